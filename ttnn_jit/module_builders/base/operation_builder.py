"""The base of builders: functions, operations, and the golden of every value."""

from __future__ import annotations

import inspect
import math
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from xdsl import ir

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.dialects.text_calls.op_calls import read_op
from ttnn_jit.dialects.upstream.tables import operation_rows
from ttnn_jit.module_builders.base.method_signatures import MethodSignature, method_of, signatures
from ttnn_jit.module_builders.base.stored_goldens import StoredGoldens
from ttnn_jit.module_builders.base.torch_types import TypeInfo, dtype_of, type_of
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.golden_steps import GoldenSteps
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden, rounded
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ops.public_names import did_you_mean
from ttnn_jit.ttmlir.attribute_builders import attribute_from
from ttnn_jit.ttmlir.mlir_attributes import UnitAttr
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint, Operation
from ttnn_jit.ttmlir.mlir_types import RankedTensorType, Type
from ttnn_jit.ttmlir.mlir_values import BlockArgument, OpResult, Value, value_of
from ttnn_jit.ttmlir.op_views import created_operation

_PACKAGE = str(Path(__file__).parents[2])
"""The folder of this package, whose frames are not the caller's."""


class Builder(StoredGoldens):
    """Makes the operations of a module, and computes the golden of each when it is made.

    Args:
        ctx: The context, of which there is one for all.
        location: The location of functions.
        mesh_name: The name of the mesh.
        mesh_dict: Its axes with their extents.
        deallocate_goldens: Accepted; goldens live as long as the builder.
        deallocated_goldens_dir: Accepted.
        system_desc_path: Accepted: layouts that need a grid take that of n150.

    Attributes:
        DIALECT: The dialect of its operations.
        STATED: The signatures that do not follow from the tables (`stated_signature`).
    """

    DIALECT: ClassVar[str] = ""
    STATED: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.DIALECT:
            return
        for name, signature in signatures(cls.DIALECT, cls.STATED).items():
            setattr(cls, f"_{name}" if hasattr(cls, name) else name, method_of(signature))

    def __init__(
        self,
        ctx: Any = None,
        location: Location | None = None,
        mesh_name: str | list[str] = "mesh",
        mesh_dict: Any = None,
        deallocate_goldens: bool = False,  # noqa: ARG002
        deallocated_goldens_dir: str | None = None,  # noqa: ARG002
        system_desc_path: str | None = None,
    ) -> None:
        names = [mesh_name] if isinstance(mesh_name, str) else list(mesh_name)
        meshes = mesh_dict if isinstance(mesh_dict, list) else [mesh_dict or OrderedDict([("x", 1), ("y", 1)])]
        if len(names) != len(meshes):
            raise ValueError(f"there are {len(names)} names of meshes, and {len(meshes)} meshes")
        super().__init__(tuple(meshes[0].values()))
        self._ctx, self._loc = ctx, location or Location.unknown()
        self._meshes = dict(zip(names, meshes, strict=True))
        self._mesh_name = names[0]
        self._system_desc_path = system_desc_path
        torch.manual_seed(0)

    @property
    def context(self) -> Any:
        """The context."""
        return self._ctx

    @property
    def location(self) -> Location:
        """The location of functions."""
        return self._loc

    def get_shape(self, input: Value) -> list[int]:  # noqa: A002 - the interface's name
        """The extents of a value."""
        shape: list[int] = input.type.shape
        return shape

    def get_type(self, input: Value) -> Any:  # noqa: A002 - the interface's name
        """The element type of a value."""
        return input.type.element_type

    def create_tensor_encoding(self, shape: Sequence[int], element_type: Any) -> Any:  # noqa: ARG002 - of dialects
        """The layout of a tensor; None where the dialect has none."""
        return None

    def tensor_type(self, shape: Iterable[int], element: torch.dtype | TypeInfo | Type) -> Any:
        """The type of a tensor of the dialect."""
        shape = [int(each) for each in shape]
        return RankedTensorType.get(shape, type_of(element), self.create_tensor_encoding(shape, element))

    # --- Operations ---------------------------------------------------------------------------------------------------

    def make_operation(self, signature: MethodSignature, given: Mapping[str, Any]) -> Any:
        """The results of an operation with its operands and attributes by name: one, or a tuple of several."""
        row = signature.row
        by_name = self.adapted(signature, dict(given))
        operands = {each.name: by_name.get(each.name) for each in row.operands}
        kinds = {each.name: each for each in row.attributes}
        attributes = {
            name: attribute_from(by_name[name], kinds[name].kind) for name in kinds if _is_said(by_name, name)
        }
        return self.emit(
            signature.operation,
            operands,
            attributes,
            types=by_name.get("result_types"),
            dtypes=self._dtypes(signature, operands, by_name.get("output_type")),
            loc=by_name.get("loc"),
            unit_attrs=by_name.get("unit_attrs"),
            sharding_attr=by_name.get("sharding_attr"),
        )

    def adapted(self, signature: MethodSignature, given: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - of dialects
        """The arguments of a method as the operation takes them; ``result_types`` if they say the types of results."""
        return {name: getattr(value, "value", value) if _is_enum(value) else value for name, value in given.items()}

    def types_given(self, given: Mapping[str, Any], *results: str) -> dict[str, Any]:
        """The types of results whose shapes and element types a call states, ``metadata_shape`` and ``metadata_type``.

        Where it does not state all shapes, they are those of goldens.
        """
        if any(given.get(f"{name}_shape") is None for name in results):
            return {}
        first = next(each for each in given.values() if isinstance(each, Value))
        kinds = [given.get(f"{name}_type") for name in results]
        own = self.get_type(first)
        shapes = (given[f"{name}_shape"] for name in results)
        pairs = zip(shapes, kinds, strict=True)
        return {"result_types": [self.tensor_type(shape, own if kind is None else kind) for shape, kind in pairs]}

    def _dtypes(self, signature: MethodSignature, operands: Mapping[str, Any], output_type: Any) -> list[Any]:
        """The element type of each result."""
        required = [each for each in signature.row.results if each.count != "?"] or [*signature.row.results]
        stated = [*signature.dtypes, *[""] * len(required)]
        first = next((each for each in operands.values() if each is not None), None)
        first = first[0] if isinstance(first, list | tuple) else first
        default = output_type if output_type is not None else (None if first is None else self.get_type(first))
        found = []
        for word in stated[: max(len(required), len(signature.dtypes))]:
            chosen = default
            if word and (output_type is None or len(required) > 1):
                chosen = self.get_type(operands[word]) if word in operands else getattr(torch, word)
            found.append(type_of(chosen if chosen is not None else torch.float32))
        return found

    def emit(  # noqa: PLR0913 - what an operation has
        self,
        name: str,
        operands: Mapping[str, Any],
        attributes: Mapping[str, ir.Attribute],
        *,
        dtypes: Sequence[Type] = (),
        types: Sequence[Type] | None = None,
        loc: str | Location | None = None,
        unit_attrs: Sequence[str] | None = None,
        sharding_attr: Any = None,
        regions: Sequence[ir.Region] = (),
        discardable: Mapping[str, ir.Attribute] | None = None,
        computes: bool = True,
    ) -> Any:
        """The results of an operation: types that are not given are those of its golden.

        Args:
            name: Its name.
            operands: Its operands by name.
            attributes: Its attributes.
            dtypes: The element types of its results, where their shapes are asked of the golden.
            types: The types of its results.
            loc: Where it comes from; by default the line that called the builder.
            unit_attrs: Names of more attributes.
            sharding_attr: How its results are cut.
            regions: Its regions.
            discardable: More attributes, which its declaration lacks.
            computes: Whether goldens of its results are computed.

        Raises:
            CompileError: It has no golden, and no types are given.
        """
        place = loc if isinstance(loc, Location) else Location.name(loc) if loc else self._caller()
        if types is None and not operation_rows(name)[0].results:
            types = ()
        if types is None:
            types = self._types_by_golden(name, operands, attributes, dtypes)
        made = created_operation(operation_rows(name)[0], operands, attributes, types, place.held, regions)
        InsertionPoint.insert_there(made, None)
        made.attributes.update(discardable or {})
        op = Operation(made)
        for each in unit_attrs or ():
            op.attributes[each] = UnitAttr.get()
        if sharding_attr is not None:
            op.attributes["sdy.sharding"] = sharding_attr
        written = self.store_golden(made) if computes else []
        results = [OpResult(each) for each in made.results] or written
        return results[0] if len(results) == 1 else tuple(results) if results else op.opview

    def _types_by_golden(
        self, name: str, operands: Mapping[str, Any], attributes: Mapping[str, ir.Attribute], dtypes: Sequence[Type]
    ) -> list[Type]:
        guesses = [RankedTensorType.get([1], each) for each in dtypes]
        probe = created_operation(operation_rows(name)[0], operands, attributes, guesses, Location.unknown().held)
        try:
            golden = self.golden_of(probe).with_open_shapes()
            shapes = [next(iter(parts.values())).shape for parts in golden.results()]
        except ShapeError as error:
            raise ShapeError(f"{name}: {error.message}", help="give the types of its results") from None
        finally:
            probe.erase()
        return [self.tensor_type(shape, kind) for shape, kind in zip(shapes, dtypes, strict=True)]

    def golden_of(self, op: ir.Operation) -> OpGolden:
        """The golden of an operation on the goldens of its operands."""
        found = {each: self._goldens.get(Value(each)) for each in op.operands}
        values = {each: golden for each, golden in found.items() if golden is not None}
        return OpGolden(op, values, self._mesh_shape)

    def store_golden(self, op: ir.Operation) -> list[Value]:
        """Computes the goldens of an operation's results, and those of operands that it writes, which it gives."""
        role = read_op(op).operation.role
        if role is Role.NOTHING:
            return []
        if role not in {Role.COMPUTES, Role.EXCHANGES}:
            self._store_by_steps(op)
            return []
        golden = self.golden_of(op)
        for value, parts in zip(golden.read.written(op), golden.results(), strict=False):
            kind = RankedTensorType(value.type).element_type
            tensor = GoldenMapTensor(rounded(parts, dtype_of(kind)), self._mesh_shape)
            self.keep_computed(value_of(value), tensor, golden)
        return [value_of(each) for each in golden.read.written(op) if each not in op.results]

    def set_goldens_from_builder_tensor(
        self,
        inputs: Mapping[Value, GoldenMapTensor],
        outputs: Mapping[Value, GoldenMapTensor] | None = None,
        set_all_outputs: bool = True,
    ) -> None:
        """As `set_goldens`, of tensors that have a part for each device.

        Goldens of operations that have read an argument are computed again, unless these outputs alone are compared.
        """
        super().set_goldens_from_builder_tensor(inputs, outputs, set_all_outputs)
        if outputs is None or not set_all_outputs:
            self._renew_goldens(each for each in inputs if isinstance(each, BlockArgument))

    def _renew_goldens(self, changed: Iterable[Value]) -> None:
        stale = {each.held for each in changed}
        for value, golden in [*self._computed.items()]:
            owner = value.held.owner
            if (
                value.held not in stale
                and isinstance(owner, ir.Operation)
                and not stale.isdisjoint(golden.read.operands)
            ):
                self.store_golden(owner)
                stale.update(owner.results)

    def _store_by_steps(self, op: ir.Operation) -> None:
        """Computes the goldens of an operation with regions, or of one that calls a function."""
        steps = GoldenSteps.around(op, self._mesh_shape)
        read = {each for inner in op.walk() for each in inner.operands}
        known = ((each, self._goldens.get(Value(each))) for each in read)
        steps.values.update({each: tuple(golden.parts(self._devices)) for each, golden in known if golden is not None})
        steps.run_op(op)
        for value in op.results:
            if value in steps.values:
                self._set_golden_tensor(value_of(value), steps.tensor(value))

    def _caller(self) -> Location:
        """The line that called the builder."""
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        return Location.unknown() if frame is None else Location.name(f"{frame.f_code.co_filename}:{frame.f_lineno}")

    # --- Random inputs ------------------------------------------------------------------------------------------------

    def _generate_random_tensor(self, shape: Sequence[int], dtype: torch.dtype | TypeInfo) -> torch.Tensor:
        if isinstance(dtype, TypeInfo):
            numbers = torch.randn(*shape)
            with warnings.catch_warnings():  # torch will drop quantized tensors
                warnings.simplefilter("ignore")
                return torch.quantize_per_tensor(numbers, dtype.scale or 1.0, dtype.zero_point or 0, dtype.dtype)
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(shape, dtype=dtype)
        if dtype is torch.bool:
            return torch.randint(0, 2, shape, dtype=dtype)
        limits = torch.iinfo(dtype)
        return torch.randint(limits.min, min(limits.max, 2**63 - 1), shape, dtype=dtype)

    @property
    def _devices(self) -> int:
        return math.prod(self._mesh_shape)

    def __getattr__(self, name: str) -> Any:
        """No method of an operation.

        Raises:
            AttributeError: Always; the error names methods that are spelled alike.
        """
        kind = type(self)
        raise AttributeError(
            f"{kind.__name__!r} object has no attribute {name!r}{did_you_mean(name, dir(kind))}", name=name
        )


def _is_enum(value: Any) -> bool:
    return type(type(value)).__name__ == "EnumType" and hasattr(value, "value") and not isinstance(value, int)


def _is_said(given: Mapping[str, Any], name: str) -> bool:
    return given.get(name) is not None
