"""The exceptions that ttnn_jit raises: what is wrong, where, and what to do instead.

Three kinds of failure have three base classes. `CompileError`: the user's program is outside the language.
`ArgumentError` and its children: the caller's arguments break a rule of the target. `InternalError`: this
compiler is at fault.
"""

from __future__ import annotations

from ttnn_jit.diagnostics.source import Location, call_chain, excerpt


class TtnnJitError(Exception):
    """Base of everything that ttnn_jit raises on purpose.

    Args:
        message: What is wrong, without a trailing full stop.
        location: The location in the user's file, shown as ``file:line:column`` with the line and carets.
        help: What to do instead.
    """

    def __init__(self, message: str, *, location: Location | None = None, help: str | None = None) -> None:  # noqa: A002 - the word rustc taught everyone to look for
        self.message = message
        self.location = location
        self.help = help
        super().__init__(_render(message, location, help))


class CompileError(TtnnJitError):
    """The user's program cannot be compiled; the text points into the user's own file."""


class UnsupportedFunction(CompileError, AssertionError):  # noqa: N818 - it says what was found, as the message does
    """A call of something that is not a TTNN operation: ``Function NAME not supported`` (ttnn.jit document, FAQ)."""


class NoSuchAttribute(CompileError, AttributeError):  # noqa: N818 - it says what was found, as the message does
    """A tensor has no such attribute, neither while a function is compiled nor at run time."""


class PassError(CompileError):
    """A pass failed: ``Failed to run pass manager`` (ttnn.jit document, FAQ), the pass and the user's line."""


class ArgumentError(TtnnJitError, ValueError):
    """The arguments of a call break a rule; nothing was compiled, allocated or cached."""


class RefusalError(ArgumentError):
    """A pass or an option of tt-mlir that this compiler knows and does not run."""


class CallError(ArgumentError, TypeError):
    """A function has no such parameter, or an argument is missing."""


class ShapeError(ArgumentError):
    """Shapes that do not fit each other, or that the target cannot take."""


class DTypeError(ArgumentError, TypeError):
    """An element type that the operation or the target cannot take; the text names the cast."""


class OperandError(CompileError, ArgumentError):
    """An operation does not accept its arguments, in an eager call (`ArgumentError`) or a program (`CompileError`)."""

    @staticmethod
    def of(name: str, error: ArgumentError) -> OperandError:
        """`error` as the corresponding error of the operation `name`, with the same text."""
        kinds = {ShapeError: OperandShapeError, DTypeError: OperandDTypeError}
        kind = next((own for base, own in kinds.items() if isinstance(error, base)), OperandError)
        return kind(f"`{name}`: {error.message}" if name else error.message, help=error.help)


class OperandShapeError(OperandError, ShapeError):
    """Shapes that do not fit the operation, its attributes, or each other."""


class OperandDTypeError(OperandError, DTypeError):
    """Element types that the operation does not accept, or not together."""


class LayoutError(ArgumentError):
    """A layout or memory config that the target cannot take."""


class GridError(ArgumentError, RuntimeError):
    """A shard grid that does not divide the tensor (a TT_FATAL in ttnn, hence also a RuntimeError)."""


class L1CapacityError(TtnnJitError, RuntimeError):
    """A core's L1 would overflow; nothing was allocated and nothing ran."""


class OversizedProgramError(CompileError, L1CapacityError):
    """A program needs more L1 than a core has; it was not kept."""


class DramCapacityError(TtnnJitError, MemoryError):
    """Memory for a tensor could not be allocated; nothing was allocated and nothing ran."""


class DeallocatedError(TtnnJitError, RuntimeError):
    """A tensor was used after `ttnn.deallocate`."""


class DeviceError(TtnnJitError, RuntimeError):
    """A device was used after it was closed."""


class DistributedError(TtnnJitError, RuntimeError):
    """Ranks disagree on what they call, or one of them is lost or late; the ranks exchange nothing more."""


class TraceError(TtnnJitError, RuntimeError):
    """A trace does not exist, cannot capture an operation, or has no room in the trace region (TT_FATAL in ttnn)."""


class KernelError(TtnnJitError, RuntimeError):
    """A core's kernel breaks the protocol of circular buffers, DST, the NoC or semaphores, or waits forever."""


class MissingLibraryError(TtnnJitError, ImportError):
    """A library that only some functions need is not installed."""


class ProgramFormatError(TtnnJitError, ValueError):
    """Bytes are not a program, are damaged, or hold code for another processor or version."""


class InternalError(TtnnJitError):
    """This compiler is at fault, not the program; please report it with the dump that the text names."""


def _render(message: str, location: Location | None, help_text: str | None) -> str:
    lines = [f"{location}: {message}" if location else message]
    if location and (shown := excerpt(location)):
        lines.append(shown)
    if location:
        lines += [f"called from {caller}" for caller in call_chain(location)[1:]]
    if help_text:
        lines.append(f"help: {help_text}")
    return "\n".join(lines)
