"""The protocol of conversions that writes ops of TTIR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.dialects.text_calls.attribute_writer import attribute_of
from ttnn_jit.dialects.text_calls.text_attributes import SEGMENTS
from ttnn_jit.dialects.upstream.attribute_kinds import NUMBER_TYPES
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.tables import OperationRow, operation_rows
from ttnn_jit.ops.families.conversion_protocol import Tensor, TtirOps

_ELEMENTS: Mapping[str, Attribute] = {name.lower(): type_ for name, type_ in NUMBER_TYPES.items()}


class TtirWriter(TtirOps):
    """Writes the ops of one conversion.

    Args:
        mesh: The extents of the mesh.
        elements: Spelling -> element type, of the types of the converted op.
        location: The place of the converted op.

    Attributes:
        ops: The ops, in order.
    """

    def __init__(self, mesh: Sequence[int], elements: Mapping[str, Attribute], location: LocationAttr) -> None:
        self.mesh = tuple(mesh)
        self._elements = elements
        self._location = location
        self.ops: list[Operation] = []

    def results(
        self, name: str, operands: Sequence[Any], types: Sequence[Tensor], /, **attributes: Any
    ) -> list[Tensor]:
        """The results of the op, which is written."""
        row = _row_with(name, attributes, len(types))
        results = [TensorType(self._element(each.element), each.shape) for each in types]
        kinds = {each.name: each.kind for each in row.attributes}
        properties = {
            key: attribute_of(value, kinds[key], self._element(types[0].element)) for key, value in attributes.items()
        }
        sizes = [len(each) if isinstance(each, list | tuple) else int(each is not None) for each in operands]
        if row.has("AttrSizedOperandSegments"):
            properties[SEGMENTS] = DenseArrayBase.from_list(i32, sizes)
        op = (
            UpstreamContext.make()
            .get_op(name)
            .create(operands=[*_values(operands)], result_types=results, properties=properties)
        )
        op.location = self._location
        self.ops.append(op)
        return [Tensor(kind.shape, kind.element, value) for kind, value in zip(types, op.results, strict=True)]

    def _element(self, spelling: str) -> Attribute:
        found = self._elements.get(spelling) or _ELEMENTS.get(spelling)
        if found is None:
            raise InternalError(f"{spelling} is no element type")
        return found


def _values(operands: Sequence[Any]) -> list[SSAValue]:
    found: list[SSAValue] = []
    for each in operands:
        if isinstance(each, list | tuple):
            found += _values(each)
        elif each is not None:
            found.append(each.handle)
    return found


def _row_with(name: str, attributes: Mapping[str, Any], results: int) -> OperationRow:
    """The newest row of an op that has these attributes, and so many results.

    Raises:
        InternalError: There is none.
    """
    for row in operation_rows(name):
        fits = len(row.results) == results or any(each.count for each in row.results)
        if fits and attributes.keys() <= {each.name for each in row.attributes}:
            return row
    raise InternalError(f"{name} has no version with the attributes {', '.join(attributes)}")
