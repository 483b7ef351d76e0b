"""What stands for objects of xDSL: one class per name of operation, made when it is first named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl import ir

from ttnn_jit.ttmlir.mlir_contexts import Context


class Held:
    """What stands for an object of xDSL."""

    def __init__(self, held: Any) -> None:
        self.held: Any = held.held if isinstance(held, Held) else held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)

    @property
    def context(self) -> Context:
        """The context."""
        return Context()


_VIEWS: dict[str, type[Held]] = {}
_MAKERS: list[Callable[[str], type[Held] | None]] = []
_WITHOUT_DECLARATION: dict[str, type[Held]] = {}


def register_view(kind: Any) -> Any:
    """Makes a class that of its name."""
    _VIEWS[kind.OPERATION_NAME] = kind
    return kind


def makes_views(maker: Any) -> Any:
    """Registers what makes the class of a name that has none yet."""
    _MAKERS.append(maker)
    return maker


def registers_plain(*, operation: type[Held], view: type[Held]) -> None:
    """Registers the class of operations without what declarations say, and that of unknown names."""
    _WITHOUT_DECLARATION.update(operation=operation, view=view)


def view_class(name: str) -> Any:
    """The class of a name; None if there is no such operation."""
    if name not in _VIEWS:
        for maker in _MAKERS:
            if (made := maker(name)) is not None:
                return register_view(made)
    return _VIEWS.get(name)


def view_of(op: ir.Operation) -> Any:
    """An operation as its class shows it."""
    kind = view_class(op.name) or _WITHOUT_DECLARATION["view"]
    made = kind.__new__(kind)
    Held.__init__(made, op)
    return made


def operation_of(op: ir.Operation) -> Any:
    """An operation without what its declaration says."""
    return _WITHOUT_DECLARATION["operation"](op)
