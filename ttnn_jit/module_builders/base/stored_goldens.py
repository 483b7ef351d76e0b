"""The goldens of a builder's values, which of them are compared, and how users replace them."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import torch
from xdsl import ir as xdsl_ir

from ttnn_jit.module_builders.goldens.golden_chains import chain_of
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor, apply_sharding
from ttnn_jit.module_builders.goldens.judged_outputs import ChainSource, JudgedSource
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden
from ttnn_jit.ttmlir.mlir_attributes import ArrayAttr, Attribute, DictAttr
from ttnn_jit.ttmlir.mlir_functions import FuncOp
from ttnn_jit.ttmlir.mlir_values import BlockArgument, OpResult, Value

ProgramGoldens = dict[int, dict[str, GoldenMapTensor]]
"""Program -> ``input_0``, ``output_0`` -> golden."""
OpGoldens = dict[str, GoldenMapTensor]
"""Location of an operation -> golden of its result."""
GivenGolden = Any
"""A tensor, a function of a shape that gives one, or a tensor for each device."""


class StoredGoldens:
    """The goldens of values.

    Args:
        mesh_shape: The extents of the mesh.
    """

    def __init__(self, mesh_shape: Sequence[int]) -> None:
        self._mesh_shape = tuple(mesh_shape)
        self._goldens: dict[Value, GoldenMapTensor] = {}
        self._computed: dict[Value, OpGolden] = {}
        self._inputs_before: dict[Value, GoldenMapTensor] = {}
        self._aliases: dict[xdsl_ir.SSAValue, xdsl_ir.SSAValue] = {}
        self._goldens_to_store: list[Value] = []
        self._bypass_ops: list[str] = []
        self._force_graph_level_check = False
        self._func_ops_generated: dict[Any, tuple[list[Value], list[Value]]] = {}
        self._nested_funcs: list[str] = []
        self._hoisted_cpu_functions: list[str] = []
        self._shard_dims: dict[Value, tuple[int, ...]] = {}

    @property
    def mesh_shape(self) -> tuple[int, ...]:
        """The extents of the mesh."""
        return self._mesh_shape

    @property
    def golden_map(self) -> tuple[ProgramGoldens, OpGoldens]:
        """The goldens of the inputs and outputs of every program, and those of operations by location.

        Raises:
            RuntimeError: A pipeline has replaced the operations of the module, whose locations are keys.
        """
        kept = self._goldens_to_store or [*self._goldens]
        results = [each for each in self._goldens if each in kept and isinstance(each, OpResult)]
        if any(each.held.owner.parent is None for each in results):
            raise RuntimeError("`golden_map` is read before a pipeline lowers the module, and this one is lowered")
        inner = {*self._nested_funcs, *self._hoisted_cpu_functions}
        programs: ProgramGoldens = {}
        for function, (inputs, outputs) in self._func_ops_generated.items():
            if function.name.value in inner:
                continue
            found = {f"input_{index}": self._input_golden(each) for index, each in enumerate(inputs)}
            found |= {f"output_{i}": self._judged(each) for i, each in enumerate(outputs) if each in kept}
            programs[len(programs)] = found
        operations: OpGoldens = {}
        if not self._force_graph_level_check:
            operations = {str(each.location): self._judged(each) for each in results}
        return programs, operations

    def _judged(self, value: Value) -> GoldenMapTensor:
        """The golden of a value with what judges its results."""
        golden = self._get_golden_tensor(value)
        golden.source = self._source(value)
        return golden

    def _source(self, value: Value) -> JudgedSource | ChainSource | None:
        """What judges a value by its operations; None if its golden, or one that it depends on, is given."""
        inputs = {each.held for given, _ in self._func_ops_generated.values() for each in given}
        alone = self._source_alone(value, inputs - self._aliases.keys())
        if alone is not None or self._goldens[value].is_quantized:
            return alone
        computed = {each.held: golden for each, golden in self._computed.items()}
        chain = chain_of(value.held, computed, self._aliases, inputs)
        return None if chain is None else ChainSource(chain, self._goldens[value])

    def _source_alone(self, value: Value, inputs: Container[xdsl_ir.SSAValue]) -> JudgedSource | None:
        """What judges a value by its operation alone; None if its operands are not exact, or its golden is given."""
        golden = self._computed.get(value)
        if golden is None or any(Value(each) in self._computed for each in golden.read.operands):
            return None
        if any(each not in inputs for each in golden.read.operands):
            return None
        written = golden.read.written(value.held.owner) if isinstance(value, OpResult) else [value.held]
        return JudgedSource(golden, written.index(value.held))

    def _input_golden(self, value: Value) -> GoldenMapTensor:
        return self._inputs_before.get(value, self._get_golden_tensor(value))

    def keep_computed(self, value: Value, golden: GoldenMapTensor, source: OpGolden) -> None:
        """Stores a golden that was computed; one of an argument is that of an operand that an operation writes."""
        if value in self._goldens and value not in self._inputs_before:
            self._inputs_before[value] = self._goldens[value]
        self._goldens[value] = golden
        self._computed[value] = source

    # --- By users -----------------------------------------------------------------------------------------------------

    def set_goldens(
        self,
        inputs: Mapping[Value, GivenGolden],
        outputs: Mapping[Value, GivenGolden] | None = None,
        set_all_outputs: bool = True,
    ) -> None:
        """Replaces the goldens of inputs, and of outputs, which are then the ones that are compared.

        Args:
            inputs: Value -> its golden.
            outputs: Value -> its golden.
            set_all_outputs: Whether only these outputs are compared.
        """
        self.set_goldens_from_builder_tensor(
            self._as_goldens(inputs), None if outputs is None else self._as_goldens(outputs), set_all_outputs
        )

    def set_goldens_from_builder_tensor(
        self,
        inputs: Mapping[Value, GoldenMapTensor],
        outputs: Mapping[Value, GoldenMapTensor] | None = None,
        set_all_outputs: bool = True,
    ) -> None:
        """As `set_goldens`, of tensors that have a part for each device."""
        for value, golden in {**inputs, **(outputs or {})}.items():
            self._set_golden_tensor(value, golden)
        if outputs is not None and set_all_outputs:
            self.set_goldens_to_check([*outputs])

    def set_operand_goldens(self, operands: Mapping[Value, GivenGolden]) -> None:
        """Replaces goldens of any values, which are then compared."""
        self.set_goldens(operands)
        self.set_goldens_to_check([*operands])

    def set_goldens_to_check(self, operands: Iterable[Value], override: bool = False) -> None:
        """Compares these values alone."""
        self._goldens_to_store = [*operands] if override else [*self._goldens_to_store, *operands]

    def set_graph_level_check(self, check: bool) -> None:
        """Whether outputs of programs alone are compared."""
        self._force_graph_level_check = check

    def bypass(self, operand: Value) -> None:
        """Does not compare the operation that gives a value; later ones read its golden.

        Raises:
            TypeError: It is an argument.
        """
        if isinstance(operand, BlockArgument):
            raise TypeError("an argument of a function is not compared")
        self._bypass_ops.append(str(operand.owner.location))

    def _get_golden_tensor(self, operand: Value) -> GoldenMapTensor:
        return self._goldens[operand]

    def _get_golden_tensors(self, operands: Iterable[Value]) -> list[GoldenMapTensor]:
        return [self._goldens[each] for each in operands]

    def _set_golden_tensor(self, operand: Value, golden: GoldenMapTensor) -> None:
        dims = self._shard_dims.get(operand)
        if dims is not None and len(golden.shard_map) == 1:
            golden = apply_sharding(golden, self._mesh_shape, dims)
        if len(golden.shard_map) == 1:
            _require_shape(golden.shard_map[0], operand)
        self._computed.pop(operand, None)
        self._goldens[operand] = golden

    def _as_goldens(self, given: Mapping[Value, GivenGolden]) -> dict[Value, GoldenMapTensor]:
        return {value: self._as_golden(value, each) for value, each in given.items()}

    def _as_golden(self, value: Value, given: GivenGolden) -> GoldenMapTensor:
        if isinstance(given, GoldenMapTensor):
            return given
        if isinstance(given, torch.Tensor):
            return GoldenMapTensor({0: given}, self._mesh_shape)
        if isinstance(given, Mapping):
            return GoldenMapTensor(given, self._mesh_shape)
        return GoldenMapTensor({0: _made(given, value.type.shape)}, self._mesh_shape)

    # --- Attributes of functions --------------------------------------------------------------------------------------

    def get_arg_attribute(self, operand: BlockArgument, attr_name: str) -> Attribute | None:
        """An attribute of an argument; None if it has none of that name."""
        found = operand.owner.owner.arg_attrs[operand.arg_number]
        return next((each.attr for each in found if each.name == attr_name), None)

    def set_arg_attribute(self, operand: BlockArgument, new_attr_name: str, new_attr: Attribute) -> None:
        """Gives an argument an attribute."""
        function = operand.owner.owner
        function.arg_attrs = _with(function.arg_attrs, operand.arg_number, new_attr_name, new_attr)

    def set_result_attribute(self, func_op: FuncOp, result_index: int, new_attr_name: str, new_attr: Attribute) -> None:
        """Gives a result of a function an attribute."""
        try:
            before = func_op.result_attrs
        except KeyError:
            before = [DictAttr.get({}) for _ in func_op.type.results]
        func_op.result_attrs = _with(before, result_index, new_attr_name, new_attr)


def _with(attributes: Any, index: int, name: str, attribute: Attribute) -> ArrayAttr:
    """The attributes of each argument, with one more."""
    found = [{each.name: each.attr for each in held} for held in attributes]
    found[index][name] = attribute
    return ArrayAttr.get([DictAttr.get(each) for each in found])


def _made(function: Callable[[list[int]], torch.Tensor], shape: list[int]) -> torch.Tensor:
    """The tensor that a user's function gives of a shape.

    Raises:
        TypeError: It gives none.
    """
    found = function(shape)
    if not isinstance(found, torch.Tensor):
        raise TypeError(f"a function gave {type(found).__name__} as golden, and a tensor is needed")
    return found


def _require_shape(golden: torch.Tensor, operand: Value) -> None:
    """Refuses a golden of another size; a tensor in a layout of metal has the elements of its shards, and more."""
    shape, encoding = [*operand.type.shape], operand.type.encoding
    is_of_metal = encoding is not None and encoding.held.name == "ttcore.metal_layout"
    if not is_of_metal and golden.numel() != math.prod(shape):
        raise ValueError(f"the golden has the shape {[*golden.shape]}, and its value {shape}")
