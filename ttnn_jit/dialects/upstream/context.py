"""The context of upstream texts: what this compiler declares, then the tables, then dialects of xDSL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

from ttnn_jit.dialects import context as compilers_context
from ttnn_jit.dialects.upstream.table_attributes import attribute_class
from ttnn_jit.dialects.upstream.table_operations import operation_class
from ttnn_jit.dialects.upstream.tables import operation_names

_OF_XDSL = {
    "cf": ("cf", "Cf"),
    "llvm": ("llvm", "LLVM"),
    "bufferization": ("bufferization", "Bufferization"),
    "vector": ("vector", "Vector"),
    "complex": ("complex", "Complex"),
    "ub": ("ub", "UB"),
    "ml_program": ("ml_program", "MLProgram"),
}
"""Dialect -> the module of xDSL that has it, and its name there."""


_OF_XDSL_FIRST = {*_OF_XDSL, "arith", "math", "memref", "tensor", "scf", "affine"}
"""Dialects of which the tables know only what xDSL lacks."""

_OF_TABLES = {"llvm.getelementptr", "llvm.mlir.constant"}
"""Operations of those dialects whose text xDSL does not read or print as MLIR does."""


class UpstreamContext(Context):
    """Knows the classes that this compiler declares, and makes those of the tables when a text first names them."""

    @staticmethod
    @cache
    def make(*, allow_unregistered: bool = False) -> UpstreamContext:
        """The context, which texts share: they only add classes to it."""
        made = UpstreamContext(allow_unregistered)
        own = compilers_context()
        for name in own.registered_dialect_names:
            if name == "d2m":
                continue  # the versions' own syntax: a dump of this compiler is read by its own context
            made.register_dialect(name, _getter(own, name))
            if name in {"builtin", "func", "arith", "memref", "ttcore", "ttnn", "ttir"}:
                made.load_registered_dialect(name)
        for name, (module, attribute) in _OF_XDSL.items():
            made.register_dialect(name, _importer(module, attribute))
        return made

    def _get_known_op(self, name: str) -> type[Operation] | None:
        known = operation_class(name) if name in _OF_TABLES else self._loaded_ops.get(name)
        if known is not None:
            return known
        if name.partition(".")[0] in _OF_XDSL_FIRST:
            known = super()._get_known_op(name)
            if known is not None:
                return known
        if (known := operation_class(name)) is not None:
            self._loaded_ops[name] = known
        return known or super()._get_known_op(name)

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        """The class of that name; an unknown name without a dialect means another op elsewhere, and is not kept."""
        found = super().get_optional_op(name, dialect_stack=dialect_stack)
        if "." not in name:
            self._loaded_ops.pop(name, None)
        return found

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """The class of that name."""
        own = _current_name(name)
        found = self._loaded_attrs.get(own) or attribute_class(own, is_type=False)
        return found or super().get_optional_attr(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """The class of that name."""
        own = _current_name(name)
        found = self._loaded_types.get(own) or attribute_class(own, is_type=True)
        return found or super().get_optional_type(name)  # type: ignore[return-value]  # a class of types


def dialect_names() -> list[str]:
    """The dialects whose operations, attributes or types texts may hold, in alphabetical order."""
    of_tables = {name.partition(".")[0] for name in operation_names()}
    return sorted({*UpstreamContext.make().registered_dialect_names, *of_tables})


def _current_name(name: str) -> str:
    """The name of an attribute or type, whose dialect `ttcore` was once `tt`."""
    return f"ttcore.{name.removeprefix('tt.')}" if name.startswith("tt.") else name


def _getter(context: Context, name: str) -> Callable[[], Dialect]:
    return lambda: context.get_dialect(name)


def _importer(module: str, attribute: str) -> Callable[[], Dialect]:
    return lambda: getattr(import_module(f"xdsl.dialects.{module}"), attribute)
