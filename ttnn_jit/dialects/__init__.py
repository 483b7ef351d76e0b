"""The dialects ttcore, ttnn, ttir and d2m, their textual form and the locations of ops.

They are printed as tt-mlir prints them. The op classes are derived from the declarations of operations
(`dialects/derive.py`, `dialects/declared_ops.py`). A module holds functions that may call each other; each public one
is an entry point (`dialects/functions.py`). `dialects/writing/creation.py`, `dialects/writing/editing.py` and
`dialects/writing/direct_access.py` create, move and read ops several times faster than xDSL does. A text is scanned
once before xDSL parses it (`dialects/spelling/text_scan.py`). An op without a location in the text gets its position in
the text. `dialects/verifier.py` also checks the rules that passes rely on and xDSL does not check
(`dialects/foreign_rules.py`).
"""

from __future__ import annotations

from functools import cache

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.memref import MemRef
from xdsl.dialects.scf import Scf
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

from ttnn_jit.dialects.affine import Affine
from ttnn_jit.dialects.d2m import D2M
from ttnn_jit.dialects.declared_ops import operation_of
from ttnn_jit.dialects.meshes import ATTRIBUTES, mesh_devices_of, set_mesh_devices
from ttnn_jit.dialects.text.parsing import parse_module_text
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.ttcore import TTCore, set_system_desc, system_desc_of
from ttnn_jit.dialects.ttir import TTIR
from ttnn_jit.dialects.ttnn import TTNN
from ttnn_jit.dialects.verifier import InvalidModule, verify

__all__ = [
    "InvalidModule",
    "context",
    "mesh_devices_of",
    "operation_of",
    "parse_module",
    "print_module",
    "set_mesh_devices",
    "set_system_desc",
    "system_desc_of",
    "verify",
]


class _LegacyNamesContext(Context):
    """Accepts the dialect's former name, `tt`, for the attributes and types of `ttcore`."""

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """The class of that name."""
        return super().get_optional_attr(_current_name(name))

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """The class of that name."""
        return super().get_optional_type(_current_name(name))


def _current_name(name: str) -> str:
    return f"ttcore.{name.removeprefix('tt.')}" if name.startswith("tt.") else name


@cache
def context() -> Context:
    """A context that knows every dialect of the pipeline; shared, so do not register into it."""
    shared = _LegacyNamesContext()
    for attribute in ATTRIBUTES:
        shared.load_attr_or_type(attribute)
    for dialect in (Builtin, Func, Arith, MemRef, Scf, Linalg, Affine, TTCore, TTNN, TTIR, D2M):
        shared.load_dialect(dialect)
    shared.register_dialect("math", _math)
    shared.register_dialect("tensor", _tensor)
    return shared


# No stage creates ops of these two dialects: they are imported only for texts that use them.
def _math() -> Dialect:
    from xdsl.dialects.math import Math

    return Math


def _tensor() -> Dialect:
    from xdsl.dialects.tensor import Tensor

    return Tensor


def parse_module(text: str, name: str = "<string>") -> ModuleOp:
    """The module of `text`; error messages give `name` as the file.

    Raises:
        InvalidModule: The text is not MLIR of these dialects.
    """
    return parse_module_text(text, name, context())


def print_module(module: Operation, *, locations: bool = False) -> str:
    """The text of `module` as mlir-opt prints it; with `locations`, as with ``-mlir-print-debuginfo``."""
    return op_text(module, locations=locations)
