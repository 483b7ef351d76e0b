"""The builder of D2M: layouts, moves, and generics of kernels. Its values have no goldens but those that users set."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl import ir

from ttnn_jit.dialects.upstream.tables import operation_rows
from ttnn_jit.module_builders.base.debug_methods import DebugMethods
from ttnn_jit.module_builders.base.metal_layouts import affine_map_from_lambda
from ttnn_jit.ttmlir.attribute_builders import attribute_from
from ttnn_jit.ttmlir.layouts import calculate_reblock_map
from ttnn_jit.ttmlir.mlir_affine import AffineMap, AffineMapAttr
from ttnn_jit.ttmlir.mlir_attributes import ArrayAttr, UnitAttr
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint, Operation
from ttnn_jit.ttmlir.mlir_types import RankedTensorType, Type
from ttnn_jit.ttmlir.mlir_values import Block, OpResult, Value
from ttnn_jit.ttmlir.op_views import created_operation
from ttnn_jit.ttmlir.wrapping import parsed, wrapped


class D2MBuilder(DebugMethods):
    """Makes modules of D2M."""

    def set_goldens(self, *args: Any, **kwargs: Any) -> None:
        """Replaces the goldens of inputs, and says those of outputs, which D2M does not compute."""
        super().set_goldens(*args, **kwargs)

    def empty(
        self,
        output_type: Any,
        virtual_grid_inverse_mapping: Any = None,
        virtual_grid_forward_mapping: Any = None,
        loc: Any = None,
    ) -> OpResult:
        """A tensor without elements."""
        maps = {
            "virtualGridInverseMapping": _map_attribute(virtual_grid_inverse_mapping),
            "virtualGridForwardMapping": _map_attribute(virtual_grid_forward_mapping),
        }
        held = {name: each.held for name, each in maps.items() if each is not None}
        return self._made("d2m.empty", {}, held, [output_type], loc)

    def mesh_shard(
        self,
        input: Value,  # noqa: A002 - the interface's name
        shard_type: Any,
        shard_direction: Any,
        shard_shape: Sequence[int],
        shard_dims: Sequence[int],
        loc: Any = None,
    ) -> OpResult:
        """The parts of a tensor, or the tensor of its parts.

        Raises:
            ValueError: A part does not divide its dimension, or a dimension is not there.
        """
        to_parts = shard_direction.name == "FullToShard"
        shape = self.get_shape(input)
        cuts = zip(shard_shape, shard_dims, strict=True) if shard_type.name != "Replicate" else ()
        for count, dim in cuts:
            if count < 1 or dim >= len(shape):
                raise ValueError(f"{count} parts of dimension {dim} of {shape}")
            if dim >= 0 and to_parts and shape[dim] % count:
                raise ValueError(f"{count} devices do not divide the extent {shape[dim]} of dimension {dim}")
            if dim >= 0:
                shape[dim] = shape[dim] // count if to_parts else shape[dim] * count
        encoding = wrapped(parsed(f'#ttcore.tensor_mesh<"{self._mesh_name}">')) if to_parts else None
        attributes = {
            "shard_type": attribute_from(shard_type.value, "#ttcore.shard_type"),
            "shard_direction": attribute_from(shard_direction.value, "#ttcore.shard_direction"),
            "shard_shape": attribute_from(shard_shape, "DenseI64ArrayAttr"),
            "shard_dims": attribute_from(shard_dims, "DenseI64ArrayAttr"),
        }
        kind = RankedTensorType.get(shape, self.get_type(input), encoding)
        return self._made("d2m.mesh_shard", {"input": input}, attributes, [kind], loc)

    def to_layout(
        self,
        input: Value,  # noqa: A002 - the interface's name
        output: Any = None,
        output_type: Any = None,
        unit_attrs: Sequence[str] | None = None,
        loc: Any = None,
    ) -> OpResult:
        """A tensor in another layout: that of `output`, which it is written to, or of a type."""
        target = self._target(output, output_type, loc)
        return self._made("d2m.to_layout", {"input": input, "output": target}, {}, [target.type], loc, unit_attrs)

    tilize = to_layout
    untilize = to_layout

    def view_layout(
        self,
        input: Value,  # noqa: A002 - the interface's name
        output_type: Any,
        remapping: Any = None,
        reinterpret_layout: bool = False,
        unit_attrs: Sequence[str] | None = None,
        loc: Any = None,
    ) -> OpResult:
        """A tensor seen by another layout; no element moves."""
        remapping = AffineMap.get_identity(len(output_type.shape)) if remapping is None else remapping
        chosen = _map_attribute(remapping)
        assert chosen is not None, "a map was chosen"
        attributes = {
            "remapping": chosen.held,
            "reinterpretLayout": attribute_from(reinterpret_layout, "BoolAttr"),
        }
        return self._made("d2m.view_layout", {"input": input}, attributes, [output_type], loc, unit_attrs)

    def mask(
        self,
        input: Value,  # noqa: A002 - the interface's name
        logical_shape: Sequence[int],
        fill_value: Any,
        output: Any = None,
        output_type: Any = None,
        unit_attrs: Sequence[str] | None = None,
        loc: Any = None,
    ) -> OpResult:
        """A tensor whose padding is a number."""
        absent = output is None and output_type is None
        target = self._target(output, input.type if absent else output_type, loc)
        attributes = {
            "logicalShape": attribute_from([*logical_shape], "DenseI64ArrayAttr"),
            "fill_value": attribute_from(fill_value, "#ttcore.oob_val"),
        }
        return self._made("d2m.mask", {"input": input, "output": target}, attributes, [target.type], loc, unit_attrs)

    def reblock(
        self,
        input: Value,  # noqa: A002 - the interface's name
        new_grid: Sequence[int],
        unit_attrs: Sequence[str] | None = None,
    ) -> OpResult:
        """A tensor seen as split over another grid.

        Raises:
            ValueError: The grid does not divide it.
        """
        shape = self.get_shape(input)
        rank = len(shape) // 2
        whole = [cores * part for cores, part in zip(shape[:rank], shape[rank:], strict=True)]
        if len(new_grid) != rank or any(extent % cores for extent, cores in zip(whole, new_grid, strict=True)):
            raise ValueError(f"the grid {[*new_grid]} does not divide {whole}")
        parts = [extent // cores for extent, cores in zip(whole, new_grid, strict=True)]
        wanted = [*new_grid, *parts]
        kind = RankedTensorType.get(wanted, self.get_type(input), input.type.encoding)
        return self.view_layout(input, kind, calculate_reblock_map(shape, wanted), unit_attrs=unit_attrs)

    def create_global_semaphore(
        self,
        output: Any = None,
        output_type: Any = None,
        value: int | None = None,
        unit_attrs: Sequence[str] | None = None,
        loc: Any = None,
    ) -> OpResult:
        """A semaphore of all devices, in a tensor or in one of a type."""
        target = self._target(output, output_type, loc)
        attributes = {} if value is None else {"value": attribute_from(value, "UI32Attr")}
        kind = wrapped(parsed("!d2m.global_semaphore"))
        return self._made("d2m.create_global_semaphore", {"input": target}, attributes, [kind], loc, unit_attrs)

    # --- Kernels ------------------------------------------------------------------------------------------------------

    def generic(
        self,
        grid: Sequence[int] | None = None,
        block_factors: Sequence[Any] | None = None,
        indexing_maps: Sequence[Callable[..., Any]] | None = None,
        iterator_types: Sequence[str] | None = None,
        skip_grid_selection: bool = False,
        fabric_connection_config: Any = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: the function makes the kernel's operations, and its last tensor is the output.

        Args:
            grid: The extents of the grid of cores; by default one core.
            block_factors: How many blocks each dimension has, if operands are read by maps.
            indexing_maps: For each operand, the dimensions that index its blocks.
            iterator_types: ``"parallel"`` or ``"reduction"`` of each dimension.
            skip_grid_selection: Whether passes keep the grid.
            fabric_connection_config: How the devices are connected.

        Raises:
            ValueError: Maps, factors and types do not fit each other.
        """
        maps, types = [*(indexing_maps or ())], [*(iterator_types or ())]
        if (block_factors is None) == bool(maps and types) or (grid is None and block_factors is None):
            raise ValueError("block_factors, indexing_maps and iterator_types belong together; else there is a grid")
        chosen = [*grid] if grid is not None else [1] * _results_of(maps[0])
        factors = [each for part in block_factors or () for each in (part if isinstance(part, tuple) else (part,))]

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def call(*operands: Value, additional_args: Sequence[Value] | None = None, **keywords: Any) -> OpResult:
                extra = [*(additional_args or ())]
                attributes = _generic_attributes(chosen, factors, maps, types)
                if fabric_connection_config is not None:
                    attributes["fabricConnectionConfig"] = fabric_connection_config.held
                parts = {"inputs": [*operands[:-1]], "outputs": [operands[-1]], "additionalArgs": extra}
                made = self._with_regions("d2m.generic", parts, attributes, [operands[-1].type], 1)
                if skip_grid_selection:
                    made.attributes["d2m.skip_grid_selection"] = UnitAttr.get()
                with InsertionPoint(Block.create_at_start(made.regions[0])):
                    function(*operands, *extra, **keywords)
                return OpResult(made.held.results[0])

            return call

        return decorate

    def spatial(
        self,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        grid_ranges: Sequence[Any],
        region_builders: Sequence[Callable[[], Any]],
        result_types: Sequence[Any] | None = None,
        unit_attrs: Sequence[str] | None = None,
        loc: Any = None,
    ) -> Any:
        """The results of generics that run on ranges of cores side by side: a region for each range.

        Raises:
            ValueError: There are other numbers of ranges and regions.
        """
        if len(region_builders) != len(grid_ranges):
            raise ValueError(f"there are {len(grid_ranges)} ranges of cores, and {len(region_builders)} regions")
        ranges = [
            wrapped(parsed(f"#ttcore.core_range<({begin[0]}, {begin[1]}), ({end[0]}, {end[1]})>"))
            for begin, end in grid_ranges
        ]
        types = [*result_types] if result_types is not None else [each.type for each in outputs]
        parts = {"inputs": [*inputs], "outputs": [*outputs]}
        attributes = {"grid_ranges": ArrayAttr.get(ranges).held}
        made = self._with_regions("d2m.spatial", parts, attributes, types, len(grid_ranges), loc)
        for each in unit_attrs or ():
            made.attributes[each] = UnitAttr.get()
        for region, build in zip(made.regions, region_builders, strict=True):
            with InsertionPoint(Block.create_at_start(region)):
                build()
        return made.results

    def remote_load(
        self,
        src: Value,
        indices: Sequence[Value],
        mcast_start_index: Any = None,
        mcast_shape: Any = None,
        mcast_dims: Any = None,
    ) -> Any:
        """A block of a tensor, in a kernel; perhaps sent to several cores."""
        rest = self.get_shape(src)[len(indices) :]
        kind = RankedTensorType.get(rest, self.get_type(src))
        target = Operation.create("tensor.empty", [kind], [], loc=self._place(None)).results[0]
        operands = {
            "localBuffer": target,
            "memref": src,
            "indices": [*indices],
            "mcastStartIndex": [*(mcast_start_index or ())],
            "mcastShape": [*(mcast_shape or ())],
            "mcastDims": [*(mcast_dims or ())],
        }
        return self._made("d2m.remote_load", operands, {}, [kind], None)

    def _target(self, output: Any, output_type: Any, loc: Any) -> Any:
        """Where a result is written: a tensor, or a new one of a type.

        Raises:
            ValueError: Both are given, or none.
        """
        if isinstance(output, Type):
            output, output_type = None, output
        if (output is None) == (output_type is None):
            raise ValueError("one of output and output_type is given")
        return output if output is not None else self.empty(output_type, loc=loc)

    def _made(
        self,
        name: str,
        operands: Mapping[str, Any],
        attributes: Mapping[str, ir.Attribute],
        types: Sequence[Any],
        loc: Any,
        unit_attrs: Sequence[str] | None = None,
    ) -> OpResult:
        made: OpResult = self.emit(
            name, operands, attributes, types=types, loc=loc, unit_attrs=unit_attrs, computes=False
        )
        return made

    def _with_regions(
        self,
        name: str,
        operands: Mapping[str, Any],
        attributes: Mapping[str, ir.Attribute],
        types: Sequence[Any],
        count: int,
        loc: Any = None,
    ) -> Operation:
        """An operation at the current place, whose regions are still empty."""
        regions = [ir.Region() for _ in range(count)]
        place = self._place(loc).held
        made = created_operation(operation_rows(name)[0], operands, attributes, types, place, regions)
        InsertionPoint.insert_there(made, None)
        return Operation(made)


def _generic_attributes(
    grid: Sequence[int], factors: Sequence[int], maps: Sequence[Callable[..., Any]], types: Sequence[str]
) -> dict[str, ir.Attribute]:
    iterators = ", ".join(f"#ttcore.iterator_type<{each.lower()}>" for each in types)
    return {
        "grid": parsed(f"#ttcore.grid<{'x'.join(map(str, grid))}>"),
        "block_factors": attribute_from([*factors], "I64ArrayAttr"),
        "indexing_maps": ArrayAttr.get([AffineMapAttr.get(affine_map_from_lambda(each)) for each in maps]).held,
        "iterator_types": parsed(f"[{iterators}]"),
        "threads": parsed("[#d2m.thread<unified>]"),
    }


def _results_of(function: Callable[..., Any]) -> int:
    """How many dimensions a map of blocks gives."""
    return len(function(*range(len(inspect.signature(function).parameters))))


def _map_attribute(given: Any) -> AffineMapAttr | None:
    """A map, or its attribute, as an attribute."""
    return given if given is None or isinstance(given, AffineMapAttr) else AffineMapAttr.get(given)
