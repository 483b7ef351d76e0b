"""The errors of builders, which users tell apart by the names of their classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import raised_by
from ttnn_jit.ttmlir.mlir_operations import MLIRError


class TTBuilderCompileException(Exception):  # noqa: N818 - upstream's name
    """A module was not built, or not compiled."""


class TTBuilderRuntimeException(Exception):  # noqa: N818 - upstream's name
    """A program did not run."""


class TTBuilderGoldenException(Exception):  # noqa: N818 - upstream's name
    """A result is not its golden."""


@contextmanager
def compile_errors() -> Iterator[None]:
    """A block whose errors are those of a compile."""
    try:
        yield
    except Exception as error:
        raise TTBuilderCompileException(error) from error


@contextmanager
def build_errors() -> Iterator[None]:
    """A block in which the user's code calls a builder: an error that names no place gets that of the call."""
    try:
        yield
    except (TtnnJitError, MLIRError) as error:
        raise TTBuilderCompileException(error) from error
    except Exception as error:
        raise TTBuilderCompileException(TtnnJitError(str(error), location=raised_by(error))) from error
