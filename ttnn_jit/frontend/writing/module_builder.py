"""Writes the module of a frontend: one function of TTNN ops, every op with the user's location.

The IR has the form of the ttnn.jit document, step 1: one `ttnn.get_device`, first, if a number needs one; a `ttnn.full`
for each number, right before the op that uses it; compute ops are tagged for D2M, the others are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.function_builder import (
    NO_ATTRIBUTES,
    TTNN,
    FunctionBuilder,
    Operand,
    TensorOperand,
    module_of,
)
from ttnn_jit.dialects.functions import MAX_OPERATIONS
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.dialects.ttnn import HOIST, HOISTED, OP_OF
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.frontend.writing.kernel_operands import KernelOperand, check_kernel_operand, product_config
from ttnn_jit.frontend.writing.promotion import promote_operands
from ttnn_jit.frontend.writing.result_layout import ResultLayout, lay_out_results, requested_spec
from ttnn_jit.ops import COPY, RELAYOUT, TYPECAST, Collective, Elementwise, MacroOperation, Movement, Operation, Routine
from ttnn_jit.specs.cores.memory_config import check_memory_of_device
from ttnn_jit.specs.dtypes import BOOLS, WIDE
from ttnn_jit.specs.meshes.mesh_devices import ONE_DEVICE, MeshDevices
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.target_rules import keeps_target_rules
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, Layout, MemoryConfig, TensorSpec, checked

if TYPE_CHECKING:
    from ttnn_jit.frontend.writing.frontend_request import FrontendRequest

__all__ = ["ModuleBuilder", "SpecBuilder", "TensorOperand"]


class ModuleBuilder(FunctionBuilder):
    """Builds the module of one Python function: promotes operands as torch does, and applies the target's kernel rules.

    Callers add arguments first, then operations in program order, then call `finish`.

    Args:
        name: The function's name. The name of an eager operation has a dot, ``ttnn.exp``, unlike that of any Python
            function, so that a device counts the two apart.
        target: Determines the element type of numbers; an attribute of the module.
        location: The location of the function's definition; None for an eager operation.
        jitted: It is a function of the user's, whose kernels obey the rules of the ttnn.jit document on a chip target.
        last_core: The last core (x, y) that products are sharded over on such a target; None: the target's.
        devices: The devices of a mesh that run the program; None: one device.

    Attributes:
        target: The target.
        devices: Those devices; a mesh of one for one device.
    """

    computes_wide: ClassVar[bool] = False
    """Whether elements of 64 bits are computed with."""

    def __init__(
        self,
        name: str,
        target: SystemDesc,
        location: Location | None,
        *,
        jitted: bool = False,
        last_core: tuple[int, int] | None = None,
        devices: MeshDevices | None = None,
    ) -> None:
        super().__init__(TTNN, re.sub(r"[^\w.]", "", name) or "main", target.numerics, location)
        self.target = target
        self.devices = devices or ONE_DEVICE
        self._has_rules = jitted and target.tile_aligned_only
        self._last_core = last_core or (target.grid[1] - 1, target.grid[0] - 1)
        self._names: dict[SSAValue, str] = {}
        self._kernel_operands: dict[SSAValue, tuple[str, TensorSpec]] = {}
        self._count = 0

    @classmethod
    def of(cls, request: FrontendRequest) -> Self:
        """The builder of the function that `request` names."""
        name = request.function.__name__
        return cls(
            name,
            request.target,
            request.definition,
            jitted=True,
            last_core=request.last_core,
            devices=request.devices,
        )

    def named_argument(self, spec: TensorSpec, name: str, blocks: tuple[int, ...] = ()) -> SSAValue:
        """The function's next argument, or the next tensor of the argument `name`; `blocks` as in `ArgumentNotes`."""
        value = self.argument(spec, blocks=blocks)
        self._names[value] = name
        return value

    def hidden_input(
        self, spec: TensorSpec, name: str, blocks: tuple[int, ...] = (), *, is_whole: bool = False
    ) -> SSAValue:
        """The function's next argument, a hidden input found at `name`; the text shows the name.

        On a mesh it `is_whole` if it is one tensor for all devices.
        """
        value = self.argument(spec, name, blocks=blocks, is_whole=is_whole and self.devices is not ONE_DEVICE)
        self._names[value] = name
        return value

    def results(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        location: Location | None,
        *,
        dtype: DataType | None = None,
    ) -> tuple[TensorOperand, ...]:
        """As `FunctionBuilder.results`, with operands promoted to one element type and macro operations decomposed.

        Raises:
            CompileError: The operands do not fit the operation or each other, or a kernel of the target does not take
                them.
        """
        if isinstance(operation, MacroOperation):
            self.check(operation, [each for each in operands if isinstance(each, tuple)], location)
            return self.decomposed(operation, operands, attributes, location)
        self._count += 1
        if self._count > MAX_OPERATIONS:
            raise CompileError(f"the program has more than {MAX_OPERATIONS} operations", location=location)
        operands = promote_operands(
            operation, operands, lambda each, to: self.operation(TYPECAST, [each], (to,), location)
        )
        return super().results(operation, operands, attributes, location, dtype=dtype)

    def write(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        results: tuple[TensorSpec, ...],
        location: Location | None,
        marks: Mapping[str, Attribute] = HOISTED,
    ) -> tuple[TensorOperand, ...]:
        """As `FunctionBuilder.write`, with the target's layouts; `marks` are the attributes of ops in kernels."""
        results = self._with_memory_configs(operation, operands, attributes, results)
        own = marks if self._is_hoisted(operation, operands) else NO_ATTRIBUTES
        return super().write(operation, operands, attributes, results, location, own)

    def _with_memory_configs(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        results: tuple[TensorSpec, ...],
    ) -> tuple[TensorSpec, ...]:
        """`results`, with products by a chip's kernels block sharded in L1."""
        if not self._has_rules:
            return results
        specs = [each[1] for each in operands if isinstance(each, tuple)]
        configs = (product_config(operation, specs, attributes, each, self._last_core) for each in results)
        return tuple(each.with_(memory_config=config) for each, config in zip(results, configs, strict=True))

    def _is_hoisted(self, operation: Operation, operands: Sequence[Operand]) -> bool:
        """Whether a kernel runs the operation: a chip's kernels read whole tiles only."""
        if not isinstance(operation, Elementwise):
            return False
        specs = (each[1] for each in operands if isinstance(each, tuple))
        return not self._has_rules or all(keeps_target_rules(spec, self.target) for spec in specs)

    def updated(self, operand: TensorOperand, requested: TensorSpec, location: Location | None) -> TensorOperand:
        """The value that an in-place operation stores; see `stored`.

        Raises:
            CompileError: A float result for integers, a number for bools, or a result in another layout.
        """
        lost = requested.dtype in BOOLS and operand[1].dtype not in BOOLS
        if lost or (requested.dtype.is_integer and not operand[1].dtype.is_integer):
            raise CompileError(
                f"a result of {operand[1].dtype.name} is not written into a tensor of {requested.dtype.name} in place",
                location=location,
                help="cast the result with `ttnn.typecast`, or divide with `rounding_mode`",
            )
        return self.stored(operand, requested, location)

    def stored(self, operand: TensorOperand, requested: TensorSpec, location: Location | None) -> TensorOperand:
        """`operand` as a computed value of spec `requested`, which has the same shape.

        Raises:
            CompileError: It has another layout.
        """
        value, spec = operand
        if spec == requested and not isinstance(value, BlockArgument):
            return operand
        if spec.layout is not requested.layout:
            raise CompileError(
                f"a tensor in {requested.layout.name} layout cannot be written from one in {spec.layout.name} layout",
                location=location,
                help="convert one of them to the layout of the other with `ttnn.to_layout` before the call",
            )
        same = spec.dtype is requested.dtype
        written, attributes = (COPY, ()) if same else (TYPECAST, (requested.dtype,))
        self.check(written, [operand], location)
        ((copied, _),) = self.write(written, [operand], attributes, (requested,), location)
        return copied, requested

    def with_layout(self, operand: TensorOperand, requested: TensorSpec, location: Location | None) -> TensorOperand:
        """`operand` in the layout and the memory of `requested`; arrays of the host stay where they are."""
        value, spec = operand
        if spec == requested or spec.memory_config == HOST_MEMORY_CONFIG:
            return operand
        check_memory_of_device(requested.memory_config)
        # A copy fuses into the computation of its operand; a relayout fuses into readers, as other movements do.
        computed = self.target.fuses_movement and value and getattr(value.owner, "operation", None)
        operation = RELAYOUT if not computed or isinstance(computed, Movement) else COPY
        ((moved, _),) = self.write(operation, [operand], (), (checked(requested),), location)
        return moved, requested

    def finish(
        self,
        results: Sequence[SSAValue],
        layout: ResultLayout | None = None,
        updates: Mapping[SSAValue, int] | None = None,
    ) -> ModuleOp:
        """The module, valid by construction; the function returns `results`, in `layout` if it is given.

        Args:
            results: Values of the function.
            layout: The layout of the results that are no updates.
            updates: The arguments that are written, each with the index of the result that is its new value.

        Raises:
            GridError: A config of `layout` does not hold its result.
        """
        updates = updates or {}
        if layout is not None:
            returned = [value for index, value in enumerate(results) if index not in updates.values()]
            copies = {value: self._copied_argument(value, layout) for value in returned}
            converted = iter(lay_out_results(self.block, [copies[value] for value in returned], layout))
            results = [value if index in updates.values() else next(converted) for index, value in enumerate(results)]
        devices = None if self.devices is ONE_DEVICE else self.devices
        return module_of((self.function(results, updates),), self.target, self.location, devices)

    def _copied_argument(self, value: SSAValue, layout: ResultLayout) -> SSAValue:
        """A copy of an argument that is returned in another layout; every other value unchanged."""
        spec = spec_of(value.type)
        if not isinstance(value, BlockArgument) or requested_spec(spec, layout) == spec:
            return value
        op = OP_OF[COPY].make((value,), tensor_type(spec), attributes=dict(HOISTED), location=self.location)
        append(self.block, (op,))
        return op.results[0]

    @property
    def kernel_operands(self) -> tuple[tuple[str, TensorSpec], ...]:
        """Under such rules, the arguments that kernels read: their names and their specs."""
        return tuple(self._kernel_operands.values())

    def check(self, operation: Operation, tensors: Sequence[TensorOperand], location: Location | None) -> None:
        """Refuses dtypes that the operation does not take, and operands that no kernel of the target takes.

        Programs of ttnn only move and cast integers of 64 bits.
        """
        if isinstance(operation, Elementwise | Routine) and operation.wide_in_texts and not self.computes_wide:
            for _, spec in tensors:
                if spec.dtype in WIDE:
                    raise self._refusal(operation, spec.dtype, location)
        super().check(operation, tensors, location)
        if not self._has_rules:
            return
        if isinstance(operation, Elementwise):
            self._check_kernel(operation, tensors, location)
        for index, (value, spec) in enumerate(tensors):
            if value in self._names or _is_hoisted(value):
                operand = KernelOperand(spec, self._names.get(value, ""), index)
                check_kernel_operand(operation, operand, self.target, location)

    def _check_kernel(self, operation: Operation, tensors: Sequence[TensorOperand], location: Location | None) -> None:
        for value, spec in tensors:
            if value in self._names:
                self._kernel_operands[value] = self._names[value], spec
        sharded = [spec for _, spec in tensors if spec.memory_config.is_sharded()]
        for spec in sharded[1:]:
            if not spec.has_layout_of(sharded[0]):
                raise CompileError(
                    f"`{operation.name}` got operands that are sharded differently: {sharded[0].memory_config} and "
                    f"{spec.memory_config}",
                    location=location,
                    help="move one of them to the other's memory config with `ttnn.to_memory_config` before the call",
                )

    def exchanged(
        self, collective: Collective, operands: Sequence[TensorOperand], statics: tuple[Any, ...], location: Location
    ) -> tuple[TensorOperand, ...]:
        """The results of a collective on the devices of the program.

        Raises:
            ArgumentError, ShapeError: The attributes do not fit the operands or the mesh.
        """
        specs = collective.results_on(self.devices, [spec for _, spec in operands], statics)
        return self.write(collective, operands, statics, specs, location)

    def filled(self, number: float, spec: TensorSpec, location: Location | None) -> TensorOperand:
        """A tensor of `spec` filled with one number; on the host if the arguments are."""
        return super().filled(number, self._in_argument_memory(spec), location)

    def made(
        self, operation: Operation, attributes: Sequence[Any], spec: TensorSpec, location: Location | None
    ) -> TensorOperand:
        """The result, of `spec`, of `operation`, which has no operands; see `filled`."""
        (made,) = self.write(operation, (), attributes, (self._in_argument_memory(spec),), location)
        return made

    def _in_argument_memory(self, spec: TensorSpec) -> TensorSpec:
        """`spec` in device memory; row major on the host if the arguments are tensors of torch or numpy."""
        if any(spec_of(own.type).memory_config == HOST_MEMORY_CONFIG for own in self.block.args):
            return spec.with_(memory_config=HOST_MEMORY_CONFIG, layout=Layout.ROW_MAJOR)
        return spec if spec.memory_config != HOST_MEMORY_CONFIG else spec.with_(memory_config=MemoryConfig())


class SpecBuilder(ModuleBuilder):
    """Infers the spec of each result, or refuses the operation, and writes no module."""

    def named_argument(self, spec: TensorSpec, name: str, blocks: tuple[int, ...] = ()) -> Any:
        """None: there are no values."""

    def hidden_input(
        self,
        spec: TensorSpec,
        name: str,
        blocks: tuple[int, ...] = (),
        *,
        is_whole: bool = False,
    ) -> Any:
        """None: there are no values."""

    def write(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        results: tuple[TensorSpec, ...],
        *_: Any,
    ) -> Any:
        """The specs of the results, with None as their values."""
        return tuple((None, each) for each in self._with_memory_configs(operation, operands, attributes, results))


def _is_hoisted(value: SSAValue | None) -> bool:
    """Whether a kernel computes the value."""
    return value is not None and not isinstance(value.owner, Block) and HOIST in value.owner.attributes
