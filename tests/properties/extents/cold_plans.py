"""Plans of one operation at many sizes, compiled at each size or instantiated from a template."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from ttnn_jit import ttnn
from ttnn_jit.codegen.blocking import kernel_sharing
from ttnn_jit.codegen.host import host_program
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.l1_requirement import StreamedBytes
from ttnn_jit.compiler.request import OperationRequest
from ttnn_jit.compiler.symbols import Place, Symbols
from ttnn_jit.compiler.template import Template, sizes_of
from ttnn_jit.dialects.writing.editing import discard
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.runtime.memory.l1 import circular_buffer_bytes
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.specs.cores.sharding import dense_strides, folded_2d, round_up
from ttnn_jit.specs.extents.trace import LEAST_SYMBOL, Trace
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import (
    DRAM_MEMORY_CONFIG,
    BufferType,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardSpec,
    TensorMemoryLayout,
    TensorSpec,
)

SMALL = (2, 3, 5, 16, 31, 32, 33, 64, 65, 100, 127, 128, 255, 500, 1024)
ELEMENTS = (4096, 65_536)
"""Numbers of elements that sizes cross."""
DTYPES = (DataType.FLOAT32, DataType.BFLOAT16, DataType.INT32, DataType.UINT32)

TILED = (32, 64, 96, 192, 320, 512, 1056, 6208)
"""Sizes that are whole tiles; the last is a symbol wherever it is not fixed."""

Shape = tuple[int, ...]
Dimensions = tuple[tuple[int, int], ...]
"""Dimensions of tensors: the number of the tensor, and its axis."""


@dataclass(frozen=True)
class World:
    """Where the tensors of calls lie.

    Attributes:
        target: The name of the target.
        place: From a shape and an element type to the spec of a tensor.
    """

    target: str
    place: Callable[[Shape, DataType], TensorSpec]


def dense(
    target: str = "cpu", layout: Layout = Layout.ROW_MAJOR, memory_config: MemoryConfig = DRAM_MEMORY_CONFIG
) -> World:
    """The world of dense tensors with this memory config."""
    return World(target, lambda shape, dtype: TensorSpec(shape, dtype, layout, memory_config))


def strided(target: str = "cpu") -> World:
    """The world of parts of rows, in reverse order of dimensions."""

    def place(shape: Shape, dtype: DataType) -> TensorSpec:
        wide = dense_strides((*shape[::-1][:-1], 3 * math.prod(shape[:1])))
        return TensorSpec(shape, dtype, strides=wide[::-1])

    return World(target, place)


def sharded(target: str, strategy: TensorMemoryLayout) -> World:
    """The world of tensors with shards of whole tiles over the same 16 cores."""
    rows, columns = {"HEIGHT": (16, 1), "WIDTH": (1, 16)}.get(strategy.name.removesuffix("_SHARDED"), (4, 4))
    cores = CoreRangeSet(CoreRange((0, 0), (3, 3)))

    def place(shape: Shape, dtype: DataType) -> TensorSpec:
        height, width = folded_2d(TensorSpec(shape, dtype, Layout.TILE).padded_shape)
        shard = round_up(max(height, 1), 32 * rows) // rows, round_up(max(width, 1), 32 * columns) // columns
        if strategy is TensorMemoryLayout.HEIGHT_SHARDED:
            shard = shard[0], max(width, 32)
        if strategy is TensorMemoryLayout.WIDTH_SHARDED:
            shard = max(height, 32), shard[1]
        if strategy is TensorMemoryLayout.ND_SHARDED:
            config = MemoryConfig(BufferType.L1, NdShardSpec(shard, cores))
        else:
            config = MemoryConfig(strategy, BufferType.L1, ShardSpec(cores, shard))
        return TensorSpec(shape, dtype, Layout.TILE, config)

    return World(target, place)


ON_CPU = dense()


@dataclass(frozen=True)
class Case:
    """An example of an operation, and its dimensions that have one varying size.

    Attributes:
        operation: The operation.
        shapes: Its shapes; None for an omitted tensor.
        statics: Its attributes.
        varying: The dimensions.
        dtype: The element type of the operands that take it; others have the first one that they take.
        world: Where the tensors lie.
    """

    operation: Operation
    shapes: tuple[Shape | None, ...]
    statics: tuple[Any, ...]
    varying: Dimensions
    dtype: DataType = DataType.FLOAT32
    world: World = ON_CPU

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
            None if shape is None else self.world.place(shape, dtype)
            for shape, dtype in zip(self.shapes_at(size), self.dtypes, strict=True)
        )
        return OperationRequest(self.operation, specs, self.statics, PRESETS[self.world.target])

    @cached_property
    def symbols(self) -> Symbols:
        """A symbol for the varying dimensions, and for each other size that changes with them."""
        every = [sizes_of(self.at(size)) for size in (*self.sizes, *TILED)]

        def values(place: Place) -> list[int]:
            return [sizes[place[0]][place[1]] for sizes in every]

        def varies(place: Place) -> bool:
            return len({*values(place)}) > 1

        return Symbols.of(every[-1], varies, lambda one, other: values(one) == values(other))

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
    """From now on, every intermediate of a plan has its own buffer, and that its own storage.

    A template shares buffers whose specs are equal as expressions, a cold compile also those that happen to be equal.
    The storages of a template are those of the size for which it was compiled.
    """
    monkeypatch.setattr(host_program, "buffer_of", lambda _, specs: {value: value for value in specs})
    monkeypatch.setattr(host_program, "storage_of", lambda _, buffers, __: {each: each for each in buffers.values()})


def with_fixed_numbers(monkeypatch: Any) -> None:
    """Numbers that are made of extents are constants of kernels, as in a compile, and no operands."""
    monkeypatch.setattr(kernel_sharing, "_without_symbolic", lambda bound, *_: kernel_sharing._with_fixed(bound))


def cold_plan(request: OperationRequest) -> ProgramPlan:
    """The plan that a compile makes, without code."""
    module = request.lower().module
    plan = driver.scheduled_code(module, request.options, None).plan
    discard(module)
    return plan


def cold_instance(request: OperationRequest) -> tuple[ProgramPlan, int]:
    """The plan that a compile makes, and the bytes of a core that its circular buffers take."""
    plan, descriptors = _compiled(request)
    return plan, max(map(circular_buffer_bytes, descriptors), default=0)


def _compiled(request: OperationRequest) -> tuple[ProgramPlan, Sequence[Mapping[str, Any]]]:
    module = request.lower().module
    code = driver.scheduled_code(module, request.options, None)
    descriptors = driver.launch_descriptors(module, code, request.options)
    discard(module)
    return code.plan, descriptors


def template_of(case: Case, size: int) -> Template:
    """The template that the compile for a size makes, without code."""
    trace, request = Trace(), case.at(size)
    traced = case.symbols.traced_symbols(sizes_of(request), trace)
    with trace.recording():
        specs, numbers = case.symbols.traced(request.inputs, (request.integers, request.floats), traced)
        plan, descriptors = _compiled(request.with_inputs(specs, *numbers))
    values = case.symbols.values(sizes_of(request))
    assert values is not None
    hints = trace.formulas.values(values)
    assert hints is not None
    example = PlanTemplate.of(plan, hints)
    return Template(case.symbols, trace.formulas, example, tuple(trace.specialized), StreamedBytes.of(descriptors))


def instance_at(template: Template, case: Case, size: int) -> tuple[ProgramPlan, int | None] | None:
    """The plan of a template for a size, and its bytes of circular buffers; None if it does not hold for it."""
    request = case.at(size)
    return template.instance(request.inputs, sizes_of(request))


def plan_at(template: Template, case: Case, size: int) -> ProgramPlan | None:
    """The plan of a template for a size; None if it does not hold for it."""
    request = case.at(size)
    return template.plan_for(request.inputs, sizes_of(request))
