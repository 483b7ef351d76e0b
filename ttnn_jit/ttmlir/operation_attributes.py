"""The attributes of an operation, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl import ir

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.ttmlir.mlir_attributes import Attribute, NamedAttribute
from ttnn_jit.ttmlir.wrapping import wrapped


class OpAttributeMap:
    """The attributes of an operation, those that its declaration has and others."""

    def __init__(self, op: ir.Operation) -> None:
        self._op = op
        self._inherent = inherent_names(op.name)

    def _all(self) -> dict[str, ir.Attribute]:
        return {**self._op.properties, **self._op.attributes}

    def __contains__(self, name: object) -> bool:
        return name in self._op.properties or name in self._op.attributes

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            name = [*self._all()][key]
            return NamedAttribute(name, wrapped(self._all()[name]))
        return wrapped(self._all()[key])

    def get(self, name: str, default: Any = None) -> Any:
        """The attribute of a name, or `default`."""
        found = self._all().get(name)
        return default if found is None else wrapped(found)

    def __setitem__(self, name: str, attribute: Attribute) -> None:
        held = self._op.properties if name in self._inherent else self._op.attributes
        held[name] = attribute.held

    def __delitem__(self, name: str) -> None:
        held = self._op.properties if name in self._op.properties else self._op.attributes
        del held[name]

    def __iter__(self) -> Iterator[NamedAttribute]:
        return (NamedAttribute(name, wrapped(each)) for name, each in self._all().items())

    def keys(self) -> list[str]:
        """The names."""
        return [*self._all()]

    def values(self) -> list[Any]:
        """The attributes."""
        return [wrapped(each) for each in self._all().values()]

    def items(self) -> list[tuple[str, Any]]:
        """Names and attributes."""
        return [(name, wrapped(each)) for name, each in self._all().items()]


def inherent_names(name: str) -> frozenset[str]:
    """The attributes that an operation's declaration has."""
    rows = tables.operation_rows(name)
    found = {each.name for row in rows for each in row.attributes}
    if name == "func.func":
        found |= {"sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"}
    return frozenset(found | {"operandSegmentSizes", "resultSegmentSizes"})
