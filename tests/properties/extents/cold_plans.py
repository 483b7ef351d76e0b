"""Plans of one operation at many sizes, compiled at each size or instantiated from a template."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ttnn_jit import ttnn
from ttnn_jit.codegen.blocking import kernel_sharing
from ttnn_jit.codegen.host import host_program
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.request import OperationRequest
from ttnn_jit.compiler.symbols import Symbols
from ttnn_jit.compiler.template import Template, sizes_of
from ttnn_jit.dialects.writing.editing import discard
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.specs.extents.trace import LEAST_SYMBOL, Trace
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

CPU = PRESETS["cpu"]
SMALL = (2, 3, 5, 16, 31, 32, 33, 64, 65, 100, 127, 128, 255, 500, 1024)
ELEMENTS = (4096, 65_536)
"""Numbers of elements that sizes cross."""
DTYPES = (DataType.FLOAT32, DataType.BFLOAT16, DataType.INT32, DataType.UINT32)

Shape = tuple[int, ...]
Dimensions = tuple[tuple[int, int], ...]
"""Dimensions of tensors: the number of the tensor, and its axis."""


@dataclass(frozen=True)
class Case:
    """An example of an operation, and its dimensions that have one varying size.

    Attributes:
        operation: The operation.
        shapes: Its shapes; None for an omitted tensor.
        statics: Its attributes.
        varying: The dimensions.
        dtype: The element type of the operands that take it; others have the first one that they take.
    """

    operation: Operation
    shapes: tuple[Shape | None, ...]
    statics: tuple[Any, ...]
    varying: Dimensions
    dtype: DataType = DataType.FLOAT32

    @property
    def dtypes(self) -> list[DataType]:
        """The element types of the tensors."""
        allowed = getattr(self.operation, "operand_dtypes", ()) or (self.operation.dtypes,) * len(self.shapes)
        preferred = (self.dtype, *DTYPES)
        of_each = tuple(allowed) * len(self.shapes)  # a list of tensors has one entry
        return [next(each for each in preferred if each in own) for own, _ in zip(of_each, self.shapes, strict=False)]

    def shapes_at(self, size: int) -> tuple[Shape | None, ...]:
        """The shapes with that size."""
        return tuple(
            shape and tuple(size if (index, axis) in self.varying else extent for axis, extent in enumerate(shape))
            for index, shape in enumerate(self.shapes)
        )

    def at(self, size: int) -> OperationRequest:
        """The call with that size."""
        specs = tuple(
            None if shape is None else TensorSpec(shape, dtype, Layout.ROW_MAJOR)
            for shape, dtype in zip(self.shapes_at(size), self.dtypes, strict=True)
        )
        return OperationRequest(self.operation, specs, self.statics, CPU)

    @property
    def symbols(self) -> Symbols:
        """One symbol for the varying dimensions."""
        given = [(index, shape) for index, shape in enumerate(self.shapes) if shape is not None]
        numbers = [[0 if (index, axis) in self.varying else None for axis, _ in enumerate(own)] for index, own in given]
        fixed = [
            tuple(extent if number is None else None for extent, number in zip(shape, own, strict=True))
            for (_, shape), own in zip(given, numbers, strict=True)
        ]
        rows, (integers, floats) = len(numbers), sizes_of(self.at(LEAST_SYMBOL))[-2:]  # numbers are fixed
        numbers += [[None] * len(integers), [None] * len(floats)]
        return Symbols(tuple(map(tuple, numbers)), (*fixed, integers, floats), (rows + 1,), (rows,))

    @property
    def sizes(self) -> list[int]:
        """Sizes that cross classes of extents and numbers of elements."""
        rest = max(math.prod(shape) for shape in self.shapes_at(1) if shape is not None)
        crossing = {max(LEAST_SYMBOL, elements // max(rest, 1) + step) for elements in ELEMENTS for step in (0, 1)}
        return sorted({*SMALL, *crossing})

    def tensors(self, size: int, device: Any) -> list[Any]:
        """Tensors of the probe's domain, or small numbers."""
        low, high = self.operation.probe.domain
        found = []
        for shape, dtype in zip(self.shapes_at(size), self.dtypes, strict=True):
            if shape is None:
                continue
            floats = torch.empty(shape).uniform_(low, high)
            values = torch.randint(0, 2, shape) if dtype.is_integer else floats
            found.append(ttnn.from_torch(values, dtype=dtype, layout=Layout.ROW_MAJOR, device=device))
        return found


def cases_of(operation: Operation) -> Iterator[Case]:
    """Per example, every extent of it as a varying size; equal ones vary together, or one alone."""
    for shapes, statics in operation.examples or _examples_of(operation):
        placed = [
            (extent, (index, axis))
            for index, shape in enumerate(shapes)
            for axis, extent in enumerate(shape or ())
            if extent >= LEAST_SYMBOL
        ]
        together = [tuple(at for own, at in placed if own == extent) for extent in dict.fromkeys(e for e, _ in placed)]
        alone = [(at,) for _, at in placed]
        for varying in dict.fromkeys([*together, *alone]):
            yield Case(operation, shapes, tuple(statics), varying)


def _examples_of(operation: Operation) -> Iterator[tuple[Sequence[Shape], Sequence[Any]]]:
    if type(operation) is Elementwise:
        rows = (33, 40)
        yield (rows,) * operation.arity, operation.tested_attributes
        if operation.arity > 1:
            yield (rows, *((1, 40),) * (operation.arity - 1)), operation.tested_attributes


def without_shared_buffers(monkeypatch: Any) -> None:
    """From now on, every intermediate of a plan has its own buffer.

    A template shares buffers whose specs are equal as expressions, a cold compile also those that happen to be equal.
    """
    monkeypatch.setattr(host_program, "buffer_of", lambda _, specs: {value: value for value in specs})


def with_fixed_numbers(monkeypatch: Any) -> None:
    """Numbers that are made of extents are constants of kernels, as in a compile, and no operands."""
    monkeypatch.setattr(kernel_sharing, "_without_symbolic", lambda bound, *_: kernel_sharing._with_fixed(bound))


def cold_plan(request: OperationRequest) -> ProgramPlan:
    """The plan that a compile makes, without code."""
    module = request.lower().module
    plan = driver.scheduled_code(module, request.options, None).plan
    discard(module)
    return plan


def template_of(case: Case, size: int) -> Template:
    """The template that the compile for a size makes, without code."""
    trace, request = Trace(), case.at(size)
    traced = case.symbols.traced_symbols(sizes_of(request), trace)
    with trace.recording():
        specs, numbers = case.symbols.traced(request.inputs, (request.integers, request.floats), traced)
        plan = cold_plan(request.with_inputs(specs, *numbers))
    hints = trace.formulas.values([size])
    assert hints is not None
    example = PlanTemplate.of(plan, hints)
    return Template(case.symbols, trace.formulas, example, tuple(trace.specialized))


def plan_at(template: Template, case: Case, size: int) -> ProgramPlan | None:
    """The plan of a template for a size; None if it does not hold for it."""
    request = case.at(size)
    return template.plan_for(request.inputs, sizes_of(request))
