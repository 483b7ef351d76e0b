"""The kernels of collectives, which have no code: exchanges between devices, and exchanges with other ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.families.collective import Results
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.rank_exchanges import ExchangeCall
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True, eq=False)
class Exchange:
    """An exchange of tensors between the devices of a mesh; `mesh_expansion` replaces it by launches.

    Attributes:
        streams: The inputs and outputs on one device.
        numerics: The rounding of folds.
        results: Device number -> its results as expressions over the inputs on all devices, those of other ranks too.
        specs: The specs of the operands on a device, on which ranks agree.
        calls: What ranks call together, by stage; () if all devices are of one rank.
    """

    streams: tuple[Stream, ...]
    numerics: Numerics
    results: Mapping[int, Results]
    specs: tuple[TensorSpec, ...]
    calls: tuple[ExchangeCall, ...] = ()
    remark = ""


class OperandPiece(NamedTuple):
    """Bytes of an operand of a launch.

    Attributes:
        operand: The index of the operand.
        begin: The first byte.
        nbytes: The number of bytes.
    """

    operand: int
    begin: int
    nbytes: int


@dataclass(frozen=True, eq=False)
class RankExchange:
    """An exchange with other ranks between two native calls: bytes of the operands are sent and received.

    Attributes:
        streams: The inputs, which are sent or copied, and the outputs.
        call: What ranks call together.
        sends: The other rank and what it gets, in order.
        receives: The other rank and what comes from it.
        copies: Pairs of target and source within the rank.
    """

    streams: tuple[Stream, ...]
    call: ExchangeCall
    sends: tuple[tuple[int, OperandPiece], ...]
    receives: tuple[tuple[int, OperandPiece], ...]
    copies: tuple[tuple[OperandPiece, OperandPiece], ...] = ()

    @property
    def remark(self) -> str:
        """What travels, for `explain()`."""
        sent, received = (sum(piece.nbytes for _, piece in each) for each in (self.sends, self.receives))
        return f"sends {sent:,} bytes to other ranks, receives {received:,}"
