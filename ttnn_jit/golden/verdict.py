"""What a verdict on a result is made of: the format of the result, the tolerance, and the outcome.

A result of one operation is judged element by element. A result of a chain of operations is judged by the root mean
square of the differences: errors add up along the chain, and a comparison in it may have the other outcome. A result
must have NaN and infinities where the golden, rounded to the result's type, has them. The correlation is reported and
decides nothing: it is undefined for a constant, and x correlates with 1000 x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType


class ResultFormat(NamedTuple):
    """The storage format of a result.

    Attributes:
        dtype: The element type.
        flushes: Whether a chip stores it: denormals are zero, and in types of at most 16 bits NaN may be infinity.
    """

    dtype: DataType
    flushes: bool = False


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of a result from its golden: the sum of all parts.

    Attributes:
        max_ulp: Units in the last place of the result's type at the golden; for block floats, of the block.
        atol: An absolute difference.
        relative: A factor of the golden's magnitude plus the root mean square of all its elements.
        noise: Gives estimates, per element, of the change of the golden when its operands change by their own
            tolerances, each at least the one before; infinite where float32 gives no number. It is called only where
            the other parts do not suffice, and asked until one does; with ``places=``, of the elements at these places
            in row-major order.
        noise_at_a_time: Of how many elements it is asked at a time, where it takes time in proportion to them; None:
            it takes as much of one element as of all.
        by_rms: Judge the root mean square of all differences, not each element.
    """

    max_ulp: float = 0.5
    atol: float = 0.0
    relative: float = 0.0
    noise: Callable[..., Iterable[torch.Tensor]] | None = None
    noise_at_a_time: int | None = None
    by_rms: bool = False

    def __str__(self) -> str:
        parts = [f"{self.max_ulp:g} ulp"]
        parts += [f"{self.atol:g}"] * bool(self.atol)
        parts += [f"{self.relative:.3g} of its size"] * bool(self.relative)
        parts += ["its backward error"] * (self.noise is not None)
        return " + ".join(parts) + (", root mean square" if self.by_rms else "")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a comparison of a result with its golden.

    Attributes:
        matches: Whether the result is right.
        reason: What is wrong; empty if the result is right.
        pcc: The correlation.
        max_ulp: The largest distance, in units in the last place of the result's type.
        differing_nans: The number of elements that are NaN in one of the two alone.
        first_nan: The index of the first such element; None if there is none.
        allclose: `torch.allclose` by the tolerances of `torch.testing`; None for block floats.
    """

    matches: bool
    reason: str
    pcc: float
    max_ulp: float
    differing_nans: int = 0
    first_nan: tuple[int, ...] | None = None
    allclose: bool | None = None


def relative_of_pcc(pcc: float) -> float:
    """The relative root mean square of the differences of two tensors whose correlation is `pcc`.

    It is sqrt(2 (1 - pcc)), for two tensors of equal mean and variance; a `pcc` of -1 or below allows any difference.
    """
    return math.inf if pcc <= -1.0 else math.sqrt(2.0 * max(0.0, 1.0 - pcc))
