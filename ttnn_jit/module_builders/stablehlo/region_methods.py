"""Methods of StableHLO's operations that have a region of scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from xdsl import ir

from ttnn_jit.module_builders.base.debug_methods import DebugMethods
from ttnn_jit.module_builders.base.torch_types import dtype_of, type_of
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.ttmlir.attribute_builders import attribute_from
from ttnn_jit.ttmlir.dialect_modules import dialect_module
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint
from ttnn_jit.ttmlir.mlir_types import RankedTensorType
from ttnn_jit.ttmlir.mlir_values import Block, Value, value_of
from ttnn_jit.ttmlir.wrapping import parsed

Body = Callable[..., Any]
"""A function of scalars of the module."""
_FOLDS = {"add": ("AddOp", 0.0), "max": ("MaxOp", -np.inf), "min": ("MinOp", np.inf), "mul": ("MulOp", 1.0)}
"""How a window is folded -> the class of the operation, and the number that changes nothing."""


class RegionMethods(DebugMethods):
    """Reductions, sorts, scatters, and exchanges that reduce."""

    def reduce(
        self,
        inputs: Sequence[Value],
        init_values: Sequence[Value],
        dimensions: Sequence[int],
        body: Body,
        result_types: Sequence[Any] | None = None,
        **trailing: Any,
    ) -> Any:
        """A reduction of tensors along dimensions by a function of scalars.

        Args:
            inputs: The tensors, of one shape.
            init_values: What each reduction starts with.
            dimensions: The dimensions, which the results have not.
            body: ``body(*totals, *elements)``, on scalars of the module.
            result_types: The types of the results, if elements have other ones.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.

        Raises:
            ValueError: There are other numbers of tensors and starts, or none.
        """
        if not inputs or len(inputs) != len(init_values):
            raise ValueError(f"there are {len(inputs)} inputs, and {len(init_values)} values to start with")
        rest = [extent for at, extent in enumerate(self.get_shape(inputs[0])) if at not in {*dimensions}]
        types = result_types or [RankedTensorType.get(rest, self.get_type(each)) for each in inputs]
        kinds = [self.get_type(each) for each in (*inputs, *init_values)]
        return self.emit(
            "stablehlo.reduce",
            {"inputs": [*inputs], "init_values": [*init_values]},
            {"dimensions": attribute_from([*dimensions], "DenseI64ArrayAttr")},
            types=types,
            regions=[self.region(kinds, body)],
            **trailing,
        )

    def reduce_sum(self, in0: Value, dimensions: Sequence[int], keep_dims: bool = False, **trailing: Any) -> Any:
        """The sum along dimensions, which the result has not.

        Raises:
            ValueError: `keep_dims` is set: the operation drops the dimensions.
        """
        return self._folded(in0, dimensions, "add", keep_dims, trailing)

    def reduce_max(self, in0: Value, dimensions: Sequence[int], keep_dims: bool = False, **trailing: Any) -> Any:
        """As `reduce_sum`, the largest element, of floats."""
        return self._folded(in0, dimensions, "max", keep_dims, trailing)

    def reduce_min(self, in0: Value, dimensions: Sequence[int], keep_dims: bool = False, **trailing: Any) -> Any:
        """As `reduce_sum`, the smallest element, of floats."""
        return self._folded(in0, dimensions, "min", keep_dims, trailing)

    def _folded(self, x: Value, dimensions: Sequence[int], fold: str, keep_dims: bool, trailing: Any) -> Any:
        if keep_dims:
            raise ValueError("stablehlo.reduce drops the dimensions; builder.reshape gives them back")
        name, start = _FOLDS[fold]
        operation = getattr(dialect_module("stablehlo", "ttmlir.dialects.stablehlo"), name)
        first = self._scalar(start, self.get_type(x), trailing.get("loc"))
        return self.reduce([x], [first], dimensions, lambda a, b: operation(a, b).result, **trailing)

    def reduce_window(
        self,
        in0: Value,
        init_value: Value | float,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] | None = None,
        base_dilations: Sequence[int] | None = None,
        window_dilations: Sequence[int] | None = None,
        padding: Sequence[Sequence[int]] | None = None,
        body: str = "add",
        **trailing: Any,
    ) -> Any:
        """A reduction of windows: ``"add"``, ``"max"``, ``"min"`` or ``"mul"``.

        Args:
            in0: The tensor.
            init_value: What each reduction starts with.
            window_dimensions: The extents of a window.
            window_strides: The distance of windows.
            base_dilations: The distance of elements of the tensor.
            window_dilations: The distance of elements of a window.
            padding: How many elements are added before and behind, along each dimension.
            body: How it is folded.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.

        Raises:
            ValueError: `body` is another word.
        """
        if body not in _FOLDS:
            raise ValueError(f"body is {body!r}; there are {', '.join(_FOLDS)}")
        shape, kind = self.get_shape(in0), self.get_type(in0)
        ones = [1] * len(shape)
        strides, base, dilations = ([*(each or ones)] for each in (window_strides, base_dilations, window_dilations))
        pairs = [[*each] for each in padding or [(0, 0)] * len(shape)]
        counts = []
        for at, extent in enumerate(shape):
            wide = (extent - 1) * base[at] + 1 + sum(pairs[at])
            counts.append((wide - (window_dimensions[at] - 1) * dilations[at] - 1) // strides[at] + 1)
        first = init_value if isinstance(init_value, Value) else self._scalar(init_value, kind, trailing.get("loc"))
        operation = getattr(dialect_module("stablehlo", "ttmlir.dialects.stablehlo"), _FOLDS[body][0])
        numbers = {
            "window_dimensions": window_dimensions,
            "window_strides": strides,
            "base_dilations": base_dilations,
            "window_dilations": window_dilations,
        }
        attributes = {key: attribute_from([*each], "DenseI64ArrayAttr") for key, each in numbers.items() if each}
        return self.emit(
            "stablehlo.reduce_window",
            {"inputs": [in0], "init_values": [first]},
            {**attributes, "padding": attribute_from(np.asarray(pairs, np.int64), "I64ElementsAttr")},
            types=[RankedTensorType.get(counts, kind)],
            regions=[self.region([kind, kind], lambda x, y: operation(x, y).result)],
            **trailing,
        )

    def pool_2d(
        self,
        in0: Value,
        kernel_size: Sequence[int],
        stride: Sequence[int] | None = None,
        padding: Sequence[int] | None = None,
        pool_type: str = "max",
        **trailing: Any,
    ) -> Any:
        """The largest elements (``"max"``) or means (``"avg"``, zeros around counted) of windows.

        Args:
            in0: The tensor.
            kernel_size: The extents of a window, along each dimension.
            stride: The distance of windows.
            padding: The elements before and behind each dimension, one after the other.
            pool_type: ``"max"`` or ``"avg"``.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.

        Raises:
            ValueError: `pool_type` is another word.
        """
        if pool_type not in {"max", "avg"}:
            raise ValueError(f"pool_type is {pool_type!r}; there are max and avg")
        flat = [*(padding or [0] * 2 * len(kernel_size))]
        pairs = [*zip(flat[::2], flat[1::2], strict=True)]
        fold = "max" if pool_type == "max" else "add"
        found = self.reduce_window(in0, _FOLDS[fold][1], kernel_size, stride, padding=pairs, body=fold, **trailing)
        if pool_type == "max":
            return found
        count = float(np.prod(kernel_size))
        divisor = torch.full(self.get_shape(found), count, dtype=dtype_of(self.get_type(found)))
        return self.divide(found, self.constant(divisor, loc=trailing.get("loc")), loc=trailing.get("loc"))

    def sort(
        self,
        in0: Value,
        dimension: int = -1,
        is_stable: bool = False,
        descending: bool = False,
        value_inputs: Sequence[Value] | None = None,
        **trailing: Any,
    ) -> Any:
        """Tensors in the order of the first one along a dimension.

        Args:
            in0: The tensor by which they are sorted.
            dimension: The dimension.
            is_stable: Whether equal elements keep their order.
            descending: Whether the largest come first.
            value_inputs: More tensors.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.
        """
        tensors = [in0, *(value_inputs or ())]
        kinds = [each for tensor in tensors for each in [self.get_type(tensor)] * 2]
        direction = "GT" if descending else "LT"
        is_float = dtype_of(self.get_type(in0)).is_floating_point
        order = "TOTALORDER" if is_float else "UNSIGNED" if str(self.get_type(in0)).startswith("ui") else "SIGNED"
        stablehlo = dialect_module("stablehlo", "ttmlir.dialects.stablehlo")

        def compared(*scalars: Value) -> Any:
            return stablehlo.CompareOp(
                scalars[0],
                scalars[1],
                stablehlo.ComparisonDirectionAttr.get(direction),
                compare_type=stablehlo.ComparisonTypeAttr.get(order),
            ).result

        return self.emit(
            "stablehlo.sort",
            {"inputs": tensors},
            {"dimension": attribute_from(dimension, "I64Attr"), "is_stable": attribute_from(is_stable, "BoolAttr")},
            types=[each.type for each in tensors],
            regions=[self.region(kinds, compared)],
            **trailing,
        )

    def scatter(  # noqa: PLR0913, PLR0917 - the operation's parameters
        self,
        inputs: Sequence[Value],
        scatter_indices: Value,
        updates: Sequence[Value],
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scattered_dims_to_operand_dims: Sequence[int],
        index_vector_dim: int,
        update_computation: Body,
        input_batching_dims: Sequence[int] | None = None,
        scatter_indices_batching_dims: Sequence[int] | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        **trailing: Any,
    ) -> Any:
        """Tensors in which elements at indices are combined with updates; see ``stablehlo.scatter``.

        Args:
            inputs: The tensors.
            scatter_indices: The indices.
            updates: The updates of each tensor.
            update_window_dims: The dimensions of updates that are parts of the tensors.
            inserted_window_dims: The dimensions of the tensors that updates have not.
            scattered_dims_to_operand_dims: The dimension that each index counts.
            index_vector_dim: The dimension of the indices that holds the numbers of one place.
            update_computation: ``update_computation(*elements, *updates)``, on scalars of the module.
            input_batching_dims: The dimensions of the tensors that are batches.
            scatter_indices_batching_dims: The dimensions of the indices that are batches.
            indices_are_sorted: A promise.
            unique_indices: A promise.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.
        """
        numbers = {
            "update_window_dims": update_window_dims,
            "inserted_window_dims": inserted_window_dims,
            "input_batching_dims": input_batching_dims,
            "scatter_indices_batching_dims": scatter_indices_batching_dims,
            "scatter_dims_to_operand_dims": scattered_dims_to_operand_dims,
        }
        parts = [f"{name} = {[*each]}" for name, each in numbers.items() if each]
        parts.append(f"index_vector_dim = {index_vector_dim}")
        kinds = [self.get_type(each) for each in (*inputs, *updates)]
        return self.emit(
            "stablehlo.scatter",
            {"inputs": [*inputs], "scatter_indices": scatter_indices, "updates": [*updates]},
            {
                "scatter_dimension_numbers": parsed(f"#stablehlo.scatter<{', '.join(parts)}>"),
                "indices_are_sorted": attribute_from(indices_are_sorted, "BoolAttr"),
                "unique_indices": attribute_from(unique_indices, "BoolAttr"),
            },
            types=[each.type for each in inputs],
            regions=[self.region(kinds, update_computation)],
            **trailing,
        )

    def all_reduce(self, input: Value, replica_groups: Sequence[Sequence[int]], **trailing: Any) -> Any:  # noqa: A002
        """The sum of the tensors of each group of devices."""
        return self._summed("stablehlo.all_reduce", {"operands": [input]}, replica_groups, input.type, {}, trailing)

    def reduce_scatter(
        self,
        input: Value,  # noqa: A002 - the interface's name
        scatter_dimensions: int,
        replica_groups: Sequence[Sequence[int]],
        **trailing: Any,
    ) -> Any:
        """The sum of the tensors of each group of devices, of which each device has a part along a dimension."""
        shape = self.get_shape(input)
        shape[scatter_dimensions] //= len(replica_groups[0])
        kind = RankedTensorType.get(shape, self.get_type(input))
        extra = {"scatter_dimension": attribute_from(scatter_dimensions, "I64Attr")}
        return self._summed("stablehlo.reduce_scatter", {"operand": input}, replica_groups, kind, extra, trailing)

    def _summed(
        self, name: str, operands: dict[str, Any], groups: Any, kind: Any, extra: dict[str, Any], trailing: Any
    ) -> Any:
        element = RankedTensorType(kind).element_type
        add = dialect_module("stablehlo", "ttmlir.dialects.stablehlo").AddOp
        lists = attribute_from(np.asarray(groups, np.int64), "I64ElementsAttr")
        return self.emit(
            name,
            operands,
            {"replica_groups": lists, **extra},
            types=[kind],
            regions=[self.region([element, element], lambda x, y: add(x, y).result)],
            **trailing,
        )

    def region(self, kinds: Sequence[Any], body: Body) -> ir.Region:
        """A region of a function of scalars, which returns one or several."""
        types = [RankedTensorType.get([], each) for each in kinds]
        block = ir.Block(arg_types=[each.held for each in types])
        arguments = [value_of(each) for each in block.args]
        for value, kind in zip(arguments, kinds, strict=True):  # builders' methods in it ask for goldens
            self._set_golden_tensor(
                value, GoldenMapTensor({0: torch.zeros((), dtype=dtype_of(kind))}, self._mesh_shape)
            )
        with InsertionPoint(Block(block)):
            found = body(*arguments)
            returned = [*found] if isinstance(found, list | tuple) else [found]
            dialect_module("stablehlo", "ttmlir.dialects.stablehlo").ReturnOp(returned)
        inner = [*block.args, *(each for op in block.ops for each in op.results)]
        for each in inner:
            self._goldens.pop(Value(each), None)
            self._computed.pop(Value(each), None)
        return ir.Region(block)

    def _scalar(self, number: float, kind: Any, loc: Any) -> Any:
        """A constant of one number: of infinities of integers, their least or largest."""
        dtype = dtype_of(type_of(kind))
        if np.isinf(number) and not dtype.is_floating_point:
            limits = torch.iinfo(dtype)
            number = limits.max if number > 0 else limits.min
        return self.constant(torch.tensor(number, dtype=dtype), loc=loc)
