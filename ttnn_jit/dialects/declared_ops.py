"""Base classes of the ops that are derived from declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import LocationAttr, TensorType
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, LayoutError, ShapeError
from ttnn_jit.dialects.layout import dtype_of, spec_of
from ttnn_jit.dialects.meshes import mesh_of_op
from ttnn_jit.dialects.properties import declared_operands, statics_of
from ttnn_jit.dialects.ttcore import DataTypeAttr
from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.ops.families.movement import BackgroundFill
from ttnn_jit.specs.access.access import Part
from ttnn_jit.specs.tensor_spec import DataType


class DeclaredOp(QuickOperation):
    """Base of the derived op classes: operands, then one result; compile-time values are properties.

    Attributes:
        operation: The declaration of the operation that it computes.
    """

    operation: ops.Operation
    traits: ClassVar[OpTraits] = OpTraits(lambda: (Pure(),))

    @property
    def result(self) -> SSAValue:
        """The one result."""
        return self.results[0]

    def result_groups(self) -> list[tuple[str, int]]:
        """The names of several results."""
        return [(name, 1) for name in self.operation.result_names]

    def verify_(self) -> None:
        """Checks operand and result counts and the properties that the declaration lists."""
        if not self.operation.takes(len(self.operands)) or len(self.results) != self.operation.result_count:
            raise VerifyException(
                f"{self.name} takes {self.operation.arity} operands and has {_results(self.operation.result_count)}, "
                f"got {len(self.operands)} and {len(self.results)}"
            )
        _ = self.statics
        self.verify_types()

    def verify_types(self) -> None:
        """Checks operand and result types; dialects override it."""
        raise NotImplementedError

    def verify_dtypes(self, dtypes: Sequence[DataType]) -> None:
        """Refuses element types that the operation does not take, and integers mixed with another type."""
        for dtype in dtypes:
            if not self.operation.accepts(dtype):
                raise VerifyException(f"{self.name} takes no numbers of {dtype.mlir}")
        if len(set(dtypes)) > 1 and any(dtype.is_integer for dtype in dtypes):
            raise VerifyException(f"{self.name} got {' and '.join(sorted({dtype.mlir for dtype in dtypes}))}")

    @property
    def statics(self) -> tuple[Any, ...]:
        """The attributes in the declaration's order."""
        return statics_of(self.operation, self.properties, self.name)

    @property
    def declared_operands(self) -> tuple[SSAValue | None, ...]:
        """The operands in the declaration's order, None for those that are not given."""
        return declared_operands(self.operation, self)

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue],
        *result_types: Attribute,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
        location: LocationAttr | None = None,
    ) -> Self:
        """An op of this class; nothing is checked before `verify`."""
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            attributes=attributes or {},
            location=location,
        )


class TensorOp(DeclaredOp):
    """An op of tensors."""

    def verify_types(self) -> None:
        """Requires tensors, a result of the declared dtype, and the shape that the shape rule infers."""
        for value in self.operands:
            if not isinstance(value.type, TensorType):
                raise VerifyException(f"{self.name} takes tensors, got {value.type}")
        for result in self.results:
            if not isinstance(result.type, TensorType):
                raise VerifyException(f"{self.name} results in a tensor, got {result.type}")
        result_type = self.results[0].type
        assert isinstance(result_type, TensorType)
        dtype = self.properties.get("dtype")
        if isinstance(dtype, DataTypeAttr) and dtype.dtype.mlir != str(result_type.element_type):
            raise VerifyException(f"{self.name} says dtype {dtype.data} but results in {result_type.element_type}")
        self._verify_shapes()

    def _verify_shapes(self) -> None:
        try:
            specs = [None if value is None else spec_of(value.type) for value in self.declared_operands]
        except LayoutError:
            return  # another compiler's type: the user of its spec refuses it
        self.verify_dtypes([spec.dtype for spec in specs if spec is not None])
        try:
            by_rule = self.operation.results(specs, self.statics)
        except CompileError as error:
            raise VerifyException(error.message) from error
        for result, rule in zip(self.results, by_rule, strict=True):
            assert isinstance(result.type, TensorType)
            if (shape := result.type.get_shape()) != tuple(rule.shape):
                raise VerifyException(f"{self.name} results in {list(rule.shape)}, got {list(shape)}")


class ElementwiseOp(DeclaredOp):
    """An elementwise op, of tensors or of tiles."""

    operation: ops.Elementwise


class TensorElementwiseOp(TensorOp, ElementwiseOp):
    """An elementwise op of tensors."""


class TypecastOp(TensorElementwiseOp):
    """An op that casts a tensor to the element type of its result, which a property may give."""

    @property
    def statics(self) -> tuple[Any, ...]:
        """The element type."""
        return (dtype_of(self.results[0].type),)

    def _verify_shapes(self) -> None:
        """Rows become tiles of block floats too, which the rule of eager calls refuses."""
        (dtype,) = self.statics
        if not dtype.is_block_float:
            super()._verify_shapes()
            return
        types = [each.type for each in (self.operands[0], self.results[0])]
        shapes = [[*each.get_shape()] for each in types if isinstance(each, TensorType)]
        if shapes[0] != shapes[1]:
            raise VerifyException(f"{self.name} results in {shapes[0]}, got {shapes[1]}")


class MovementOp(TensorOp):
    """An op that moves the elements of a tensor."""

    operation: ops.Movement

    def verify_types(self) -> None:
        """Requires the element type of the operands."""
        super().verify_types()
        result = self.results[0].type
        if any(value.type.element_type != result.element_type for value in self.operands):  # type: ignore[attr-defined]
            raise VerifyException(f"{self.name} computes nothing, so that the result has the elements of its operands")

    @property
    def parts(self) -> tuple[Part, ...]:
        """Per operand, the block of the result that it fills."""
        operation, shapes, statics = self._canonicalized()
        return operation.parts(shapes, statics)

    @property
    def is_view(self) -> bool:
        """Whether its result is a view of its one operand."""
        return len(self.operands) == 1 and self.operation.background_fill is None

    @property
    def background(self) -> BackgroundFill | None:
        """The fill outside those blocks; None if they cover the result."""
        operation, shapes, statics = self._canonicalized()
        return operation.background(shapes, statics)

    def _canonicalized(self) -> tuple[ops.Movement, list[tuple[int, ...]], tuple[Any, ...]]:
        specs = [spec_of(value.type) for value in self.operands]
        operation, statics = self.operation.canonicalized(specs, self.statics)
        return operation, [tuple(spec.shape) for spec in specs], statics


class ReductionOp(TensorOp):
    """An op that reduces dimensions of a tensor."""

    operation: ops.Reduction

    @property
    def axes(self) -> tuple[int, ...]:
        """The reduced dimensions, as nonnegative indices."""
        _, (axes, _) = self.operation.canonicalized([spec_of(self.operands[0].type)], self.statics)
        return tuple(axes)

    @property
    def keeps_dimensions(self) -> bool:
        """Whether the result keeps them, with extent 1."""
        return bool(self.statics[1])


class RoutineOp(TensorOp):
    """An op that a hand-written routine computes."""

    operation: ops.Routine

    @property
    def statics(self) -> tuple[Any, ...]:
        """The attributes in the declaration's order, dimensions as nonnegative indices."""
        return _canonical_statics(self, super().statics)

    @property
    def packs_rows(self) -> bool:
        """Whether it updates rows of block floats in place."""
        if not self.operation.writes_rows:
            return False
        updated, result = (spec_of(value.type) for value in (self.operands[0], self.results[0]))
        return updated.dtype.is_block_float and updated.dtype is result.dtype and updated.volume > 0

    def verify_dtypes(self, dtypes: Sequence[DataType]) -> None:
        """Checks nothing: the rule that infers the results checks each operand."""


class CollectiveOp(TensorOp):
    """An op whose results on one device are made of tensors on several."""

    operation: ops.Collective

    def verify_(self) -> None:
        """Checks the operands, the properties, and the results that the mesh of the module gives."""
        if len(self.operands) != self.operation.arity:
            raise VerifyException(f"{self.name} takes {self.operation.arity} operands, got {len(self.operands)}")
        statics, devices = self.statics, mesh_of_op(self)
        if devices is None:
            return  # of one device, or of a module without a mesh: code generation refuses it
        try:
            specs = [spec_of(value.type) for value in self.operands]
            by_rule = self.operation.results_on(devices, specs, statics)
        except LayoutError:
            return  # another compiler's type
        except (ArgumentError, ShapeError) as error:
            raise VerifyException(f"{self.name}: {error.message}") from error
        expected = [(tuple(rule.shape), rule.dtype) for rule in by_rule]
        found = [(tuple(spec.shape), spec.dtype) for spec in (spec_of(each.type) for each in self.results)]
        if expected != found:
            raise VerifyException(f"{self.name} results in {_shapes(expected)}, got {_shapes(found)}")


def _shapes(results: Sequence[tuple[tuple[int, ...], DataType]]) -> str:
    return ", ".join(f"{list(shape)} of {dtype.mlir}" for shape, dtype in results)


class ContractionOp(TensorOp):
    """An op that contracts a dimension of two tensors."""

    operation: ops.Contraction

    @property
    def terms(self) -> int:
        """The number of terms of each sum."""
        shapes = [tuple(spec_of(value.type).shape) for value in self.operands]
        named, extents = self.operation.extents(shapes, self.statics)
        return extents.get(named.contracted, 1)

    def verify_types(self) -> None:
        """Refuses shapes that cannot be multiplied with the messages of tt-mlir's verifier, then as other ops do."""
        types = [value.type for value in (*self.operands, self.results[0])]
        if all(isinstance(each, TensorType) for each in types):
            *factors, result = (each.get_shape() for each in types if isinstance(each, TensorType))
            if (said := self.operation.matmul_verifier_error(factors, result, self.statics)) is not None:
                listed = ", ".join(str(list(shape)) for shape in (*factors, result))
                raise VerifyException(f"{self.name}: {said}: {listed}")
        super().verify_types()


class CompositeOp(TensorOp):
    """An op that decomposes to other ops."""

    operation: ops.Composite

    @property
    def statics(self) -> tuple[Any, ...]:
        """The attributes in the declaration's order, dimensions as nonnegative indices."""
        return _canonical_statics(self, super().statics)

    def verify_dtypes(self, dtypes: Sequence[DataType]) -> None:
        """Checks dtypes, unless the declaration has a rule for each operand, which the rule of the results checks."""
        if not self.operation.operand_dtypes:
            super().verify_dtypes(dtypes)


def _canonical_statics(op: RoutineOp | CompositeOp, statics: tuple[Any, ...]) -> tuple[Any, ...]:
    """`statics` in canonical form."""
    try:
        specs = [None if value is None else spec_of(value.type) for value in op.declared_operands]
    except LayoutError:
        return statics  # no tensors, or another compiler's types: the user of their specs refuses them
    _, canonical = op.operation.canonicalized(specs, statics)
    return canonical


def _results(count: int) -> str:
    return "one result" if count == 1 else f"{count} results"


def operation_of(op: Operation) -> ops.Elementwise | None:
    """The declaration of an elementwise `op` of any dialect; None for other ops."""
    return op.operation if isinstance(op, ElementwiseOp) else None
