"""The dialects ttcore, ttnn, ttir and d2m, their text exactly as MLIR has it, and locations.

They are printed as tt-mlir prints them. The ops of operations are derived from the declarations (`dialects/derive.py`,
`dialects/declared_ops.py`). A module holds functions that may call each other; public ones are entry points, each a
program by itself (`dialects/functions.py`). `dialects/writing/creation.py`, `dialects/writing/editing.py` and
`dialects/writing/direct_access.py` make, move and read ops for a fraction of what xDSL takes. Text is looked over once
before xDSL parses it (`dialects/spelling/text_scan.py`), and ops that name no location lie where the text has them;
`dialects/verifier.py` also checks what passes rely on and xDSL does not (`dialects/foreign_rules.py`).
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
from ttnn_jit.dialects.text.parsing import parse_module_text
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.ttcore import TTCore, set_system_desc, system_desc_of
from ttnn_jit.dialects.ttir import TTIR
from ttnn_jit.dialects.ttnn import TTNN
from ttnn_jit.dialects.verifier import InvalidModule, verify

__all__ = [
    "InvalidModule",
    "context",
    "operation_of",
    "parse_module",
    "print_module",
    "set_system_desc",
    "system_desc_of",
    "verify",
]


class _EarlierSpelling(Context):
    """Knows the attributes and types of `ttcore` by the name that the dialect had before, `tt`, too."""

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """The class of that name."""
        return super().get_optional_attr(_today(name))

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """The class of that name."""
        return super().get_optional_type(_today(name))


def _today(name: str) -> str:
    return f"ttcore.{name.removeprefix('tt.')}" if name.startswith("tt.") else name


@cache
def context() -> Context:
    """A context that knows every dialect of the pipeline; shared, so do not register into it."""
    shared = _EarlierSpelling()
    for dialect in (Builtin, Func, Arith, MemRef, Scf, Linalg, Affine, TTCore, TTNN, TTIR, D2M):
        shared.load_dialect(dialect)
    shared.register_dialect("math", _math)
    shared.register_dialect("tensor", _tensor)
    return shared


# No stage makes ops of these two: only text that holds them pays for their import.
def _math() -> Dialect:
    from xdsl.dialects.math import Math

    return Math


def _tensor() -> Dialect:
    from xdsl.dialects.tensor import Tensor

    return Tensor


def parse_module(text: str, name: str = "<string>") -> ModuleOp:
    """The module that `text` spells; `name` stands in error messages.

    Raises:
        InvalidModule: The text is not MLIR of these dialects.
    """
    return parse_module_text(text, name, context())


def print_module(module: Operation, *, locations: bool = False) -> str:
    """The text of `module` as mlir-opt prints it, with `locations` as under ``-mlir-print-debuginfo``."""
    return op_text(module, locations=locations)
