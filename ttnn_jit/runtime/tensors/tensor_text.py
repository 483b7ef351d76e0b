"""How a tensor is printed: nested, with the columns and the elision of ttnn (tt-metal, ttnn/core/tensor/to_string)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_whole_number

if TYPE_CHECKING:
    import numpy

    from ttnn_jit.specs.tensor_spec import TensorSpec

_SHOWN = 4  # items of a dimension in the short profile
_OPENING = "ttnn.Tensor("
_HTML_LINES = 40
_EMPTY, _SHORT, _FULL = PROFILES = ("empty", "short", "full")


@dataclass(frozen=True)
class PrintOptions:
    """How tensors are printed.

    Attributes:
        profile: ``"empty"`` shows no element, ``"short"`` the first and last two of each dimension, ``"full"`` all.
        sci_mode: Whether numbers have an exponent; None: where their magnitudes are far from each other or from 1.
        precision: Digits after the point.
    """

    profile: str = _SHORT
    sci_mode: bool | None = None
    precision: int = 4


class _Chosen:
    options = PrintOptions()


def set_printoptions(*, profile: str = _SHORT, sci_mode: bool | str | None = None, precision: int = 4) -> None:
    """Choose how tensors are printed from now on (ttnn.set_printoptions); what is left out goes back to its default.

    Args:
        profile: ``"empty"`` shows no element, ``"short"`` the first and last two of each dimension, ``"full"`` all.
        sci_mode: True and False force numbers with and without exponent; None and ``"default"`` let the values decide.
        precision: Digits after the point.

    Raises:
        ArgumentError: Another value.
    """
    if not isinstance(profile, str) or profile.lower() not in PROFILES:
        raise ArgumentError(f"`profile` is {profile!r}", help='it takes "empty", "short" or "full"')
    if sci_mode not in (None, True, False, "default"):
        raise ArgumentError(f"`sci_mode` is {sci_mode!r}", help='it takes True, False, None or "default"')
    check_whole_number(precision, "`precision`")
    if not 0 <= precision <= _MOST_DIGITS:
        raise ArgumentError(f"`precision` is {precision}", help=f"it takes 0 to {_MOST_DIGITS}")
    _Chosen.options = PrintOptions(profile.lower(), None if isinstance(sci_mode, str) else sci_mode, precision)


_MOST_DIGITS = 149  # of a float32


def tensor_text(spec: TensorSpec, values: numpy.ndarray[Any, Any] | str) -> str:
    """A tensor as ``print`` shows it; `values` are its elements in its shape, or why there are none."""
    return _text(spec, values, _Chosen.options)


def tensor_html(spec: TensorSpec, values: numpy.ndarray[Any, Any] | str, caption: str) -> str:
    """A tensor as a notebook shows it: where it lies, and the text in the short profile, at most 40 lines of it."""
    from html import escape

    chosen = _Chosen.options
    lines = _text(spec, values, PrintOptions(_SHORT, chosen.sci_mode, chosen.precision)).splitlines()
    kept = [*lines[: _HTML_LINES - 1], "..."] if len(lines) > _HTML_LINES else lines
    return f"<div><div>{escape(caption)}</div><pre>{escape(chr(10).join(kept))}</pre></div>"


def _text(spec: TensorSpec, values: numpy.ndarray[Any, Any] | str, options: PrintOptions) -> str:
    if isinstance(values, str):
        shown = f"<{values}>"
    elif options.profile == _EMPTY:
        shown = "..."
    else:
        shown = _nested(values, len(_OPENING), _form(spec, values, options), options.profile == _FULL)
    return f"{_OPENING}{shown}, shape={spec.shape}, dtype={spec.dtype}, layout={spec.layout})"


def _form(spec: TensorSpec, values: numpy.ndarray[Any, Any], options: PrintOptions) -> str:
    """How one number is formatted."""
    if spec.dtype.is_integer:
        return "{:5}"
    scientific = _has_exponents(values) if options.sci_mode is None else options.sci_mode
    width, kind = (7, "e") if scientific else (3, "f")
    return f"{{:{options.precision + width}.{options.precision}{kind}}}"


def _has_exponents(values: numpy.ndarray[Any, Any]) -> bool:
    import numpy

    magnitudes = numpy.abs(values)
    counted = magnitudes[(magnitudes > 0) & numpy.isfinite(magnitudes)]
    if not counted.size:
        return False
    least, most = float(counted.min()), float(counted.max())
    return most / least > 1000.0 or most > 1e8 or least < 1e-4


def _nested(values: numpy.ndarray[Any, Any], column: int, form: str, full: bool) -> str:
    """Brackets around `values`, the first of them at `column`."""
    if not values.ndim:
        return form.format(values.item())
    extent = values.shape[0]
    elided = extent > _SHOWN and not full
    indices = [*range(_SHOWN // 2), *range(extent - _SHOWN // 2, extent)] if elided else range(extent)
    items = [_nested(values[index], column + 1, form, full) for index in indices]
    if elided:
        items.insert(_SHOWN // 2, "..." if values.ndim > 1 else " ...")
    separator = ", " if values.ndim == 1 else ",\n" + "\n" * (values.ndim > 2) + " " * (column + 1)
    return f"[{separator.join(items)}]"
