"""Functions of a module: the decorators of builders, and calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.module_builders.base.metal_layouts import get_metal_tensor_layout
from ttnn_jit.module_builders.base.operation_builder import Builder
from ttnn_jit.module_builders.base.ttnn_encodings import ttnn_encoding, ttnn_tensor_type
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.ttmlir import mlir_functions
from ttnn_jit.ttmlir.dialect_modules import dialect_module
from ttnn_jit.ttmlir.mlir_attributes import StringAttr
from ttnn_jit.ttmlir.mlir_functions import FuncOp, ReturnOp, returned_values
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint, Module, Operation
from ttnn_jit.ttmlir.mlir_types import FunctionType, Type
from ttnn_jit.ttmlir.mlir_values import Block, BlockArgument, Value
from ttnn_jit.ttmlir.wrapping import parsed, wrapped


class FunctionBuilder(Builder):
    """A builder with functions."""

    def func(
        self,
        input_shapes: Sequence[Sequence[int]],
        input_types: Sequence[Any],
        ttnn_inputs: bool = False,
        custom_inputs: Sequence[Mapping[str, Any]] | None = None,
        presharded_args: Mapping[int, Sequence[int]] | None = None,
        presharded_results: Mapping[int, Sequence[int]] | None = None,
    ) -> Callable[[Callable[..., Any]], FuncOp]:
        """Makes a function of one of Python, whose last argument is the builder. Inputs are random.

        Args:
            input_shapes: The extents of each argument.
            input_types: The element type of each argument.
            ttnn_inputs: Whether arguments have layouts of ttnn.
            custom_inputs: The keywords of the layout of ttnn of each argument.
            presharded_args: Argument -> the dimension that each axis of the mesh cuts; it has a part per device.
            presharded_results: As `presharded_args`, of results.
        """
        layouts = [*(custom_inputs or ())] if custom_inputs or ttnn_inputs else None
        cut_inputs = {index: tuple(dims) for index, dims in (presharded_args or {}).items()}
        cut_results = {index: tuple(dims) for index, dims in (presharded_results or {}).items()}
        types = []
        for index, (shape, dtype) in enumerate(zip(input_shapes, input_types, strict=False)):
            local = self._part_of(shape, cut_inputs[index]) if index in cut_inputs else shape
            keywords = None if layouts is None else layouts[index] if index < len(layouts) else {}
            types.append(self._input_type(local, dtype, keywords))

        def decorate(function: Callable[..., Any]) -> FuncOp:
            def body(made: FuncOp) -> Sequence[Value]:
                for index, value in enumerate(made.arguments):
                    if index in cut_inputs:
                        self._shard_dims[value] = cut_inputs[index]
                        self._mark_presharded(made, index, is_result=False)
                    random = self._generate_random_tensor(input_shapes[index], input_types[index])
                    self._set_golden_tensor(value, GoldenMapTensor({0: random}, self._mesh_shape))
                return returned_values(function(*made.arguments, self))

            made = self._function(function.__name__, types, body)
            _, outputs = self._func_ops_generated[made]
            for index, dims in cut_results.items():
                golden = self._get_golden_tensor(outputs[index])
                self._shard_dims[outputs[index]] = dims
                self._set_golden_tensor(outputs[index], golden)
                self._mark_presharded(made, index, is_result=True)
            return made

        return decorate

    def call(self, nested_func: Callable[..., Any], original_inputs: Sequence[Value], loc: Any = None) -> Any:
        """The results of a call of a private function, which is made of one of Python beside the current one."""
        place = self._place(loc)
        goldens = [self._get_golden_tensor(each) for each in original_inputs]

        def body(made: FuncOp) -> Sequence[Value]:
            for value, golden, given in zip(made.arguments, goldens, original_inputs, strict=True):
                self._set_golden_tensor(value, golden)
                self._aliases[value.held] = given.held
            return returned_values(nested_func(*made.arguments, self))

        with InsertionPoint(self._module_block):
            made = self._function(nested_func.__name__, [each.type for each in original_inputs], body)
        made.sym_visibility = StringAttr.get("private")
        self._nested_funcs.append(made.name.value)
        return self._called(made, original_inputs, place)

    def _called(self, function: FuncOp, inputs: Sequence[Value], place: Any) -> Any:
        """The results of a call, whose goldens are those of what the function returns."""
        called = mlir_functions.CallOp(function, [*inputs], loc=place)
        _, outputs = self._func_ops_generated[function]
        for result, output in zip(called.results, outputs, strict=True):
            self._set_golden_tensor(result, self._get_golden_tensor(output))
            self._aliases[result.held] = output.held
        return called.results[0] if len(called.results) == 1 else tuple(called.results)

    def device_module(self, root_func: Callable[..., Any]) -> Any:
        """Makes the module of the device, in which a function of Python makes functions."""
        return self._inner_module("DeviceModuleOp", root_func)

    def cpu_module(self, root_func: Callable[..., Any]) -> Any:
        """Makes the module of the host, in which a function of Python makes functions."""
        return self._inner_module("CPUModuleOp", root_func)

    def _inner_module(self, kind: str, root_func: Callable[..., Any]) -> Any:
        outer = getattr(dialect_module("ttcore", "ttmlir.dialects.ttcore"), kind)()
        inner = Module.create()
        Block.create_at_start(outer.regions[0]).append(Operation(inner.held))
        around, self._module_block = self._module_block, inner.body
        try:
            with InsertionPoint(inner.body):
                root_func(self)
        finally:
            self._module_block = around
        return outer

    _module_block: Any = None

    def build(self, root_func: Callable[..., Any]) -> Module:
        """The module that a function of Python makes."""
        made = Module.create(self._loc)
        self._module_block = made.body
        self._begin_module(made)
        with self._loc, InsertionPoint(made.body):
            root_func(self)
        return made

    def _begin_module(self, module: Module) -> None:
        """Says the mesh, if it has several devices."""
        if self._devices > 1:
            extents = "x".join(map(str, self._mesh_shape))
            text = f'#ttcore.meshes<[<"{self._mesh_name}" = {extents}>]>'
            module.operation.attributes["ttcore.meshes"] = wrapped(parsed(text))

    def _function(self, name: str, types: Sequence[Type], body: Callable[[FuncOp], Sequence[Value]]) -> FuncOp:
        made = FuncOp(name, ([*types], []), loc=self._loc)
        with InsertionPoint(made.add_entry_block()):
            outputs = [*body(made)]
            ReturnOp(outputs, loc=self._loc)
        made.function_type = FunctionType.get(types, [each.type for each in outputs])
        self._func_ops_generated[made] = ([*made.arguments], outputs)
        return made

    def _input_type(self, shape: Sequence[int], dtype: Any, keywords: Mapping[str, Any] | None) -> Any:
        """The type of an argument, with a layout of ttnn if there are keywords of it."""
        if keywords is None:
            return self.tensor_type(shape, dtype)
        return ttnn_tensor_type(shape, dtype, **keywords)

    def _part_of(self, shape: Sequence[int], dims: Sequence[int]) -> list[int]:
        """The extents of a device's part.

        Raises:
            ValueError: An axis of the mesh does not divide its dimension.
        """
        part = [*shape]
        for count, dim in zip(self._mesh_shape, dims, strict=True):
            if dim is not None and dim != -1:
                part[dim], rest = divmod(part[dim], count)
                if rest:
                    raise ValueError(f"{count} devices do not divide the extent {shape[dim]} of {list(shape)}")
        return part

    def _mark_presharded(self, function: FuncOp, index: int, *, is_result: bool) -> None:
        value: Any = self._func_ops_generated[function][1][index] if is_result else function.arguments[index]
        status = wrapped(parsed("#ttcore.shard_status<presharded>"))
        local = wrapped(parsed(f"#ttcore<local_shape local_shape = {_plain_type(value)}>"))
        for name, attribute in (("ttcore.shard_status", status), ("ttcore.local_shape", local)):
            if is_result:
                self.set_result_attribute(function, index, name, attribute)
            else:
                self.set_arg_attribute(value, name, attribute)

    def preshard_arg(self, operand: BlockArgument, shard_dims: Sequence[int]) -> None:
        """Says that devices have their parts of an argument before a program runs; its type is that of the whole.

        A ``mesh_shard`` of the type identity takes the parts. Here it cuts them from the whole, which
        programs are given.

        Args:
            operand: The argument.
            shard_dims: The dimension that each axis of the mesh cuts, or -1.

        Raises:
            ValueError: An axis of the mesh does not divide its dimension.
        """
        kind: Any = operand.type
        extents = "x".join(map(str, (*self._part_of(kind.shape, tuple(shard_dims)), kind.element_type)))
        text = f"shard_status = <presharded>, local_shape = tensor<{extents}>"
        attribute = wrapped(parsed(f"#ttcore<runtime_tensor_sharding {text}>"))
        self.set_arg_attribute(operand, "ttcore.runtime_tensor_sharding", attribute)

    def get_metal_tensor_layout(self, logical_shape: Sequence[int], *args: Any, **keywords: Any) -> Any:
        """The type of a tensor that is split over a grid of cores; see `metal_layouts.py`."""
        return get_metal_tensor_layout(self._ctx, logical_shape, *args, **keywords)

    def _create_ttnn_tensor_encoding(self, shape: Sequence[int], element_type: Any, *args: Any, **keywords: Any) -> Any:
        return ttnn_encoding(shape, element_type, *args, **keywords)

    def _place(self, loc: Any) -> Any:
        return loc if isinstance(loc, Location) else Location.name(loc) if loc else self._caller()


def _plain_type(value: Value) -> str:
    extents = "x".join(map(str, value.type.shape))
    return f"tensor<{extents}x{value.type.element_type}>" if extents else f"tensor<{value.type.element_type}>"
