"""Runs of a program that exchanges with other ranks: native calls, and the exchanges between them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.runtime.memory.buffer import Buffer, address_of
from ttnn_jit.runtime.native.native_call import NativeCalls
from ttnn_jit.runtime.plans.rank_exchanges import ExchangeCall, Piece, PlanExchange, Transfer

if TYPE_CHECKING:
    from ttnn_jit.runtime.device import Device
    from ttnn_jit.runtime.plans.plan import ProgramPlan
    from ttnn_jit.runtime.ranks.headers import Call, Data
    from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks
    from ttnn_jit.runtime.ranks.transport import Region

Runner = Callable[["MeshRanks | None", NativeCalls, Sequence[int]], None]
"""Runs native calls, and the exchanges between them, on the addresses of a plan's memory."""


def runner_of(plan: ProgramPlan) -> Runner:
    """The function that runs a plan's program on addresses."""
    steps = plan.exchanges_in_memory

    def run(ranks: MeshRanks | None, calls: NativeCalls, addresses: Sequence[int]) -> None:
        for call, exchange in zip_longest(calls, steps):
            if call is not None:
                call.run(addresses)
            if exchange is not None:
                make_exchange(exchange, ranks, addresses)

    return run


def launch_on(
    plan: ProgramPlan, calls: NativeCalls, device: Device, buffers: Sequence[Buffer], ranks: MeshRanks | None
) -> None:
    """Run a program on buffers, or record the run if the device records one.

    Args:
        plan: The program's plan.
        calls: Its code.
        device: A device of the program.
        buffers: The plan's memory.
        ranks: The ranks that share the mesh.
    """
    for call, exchange in zip_longest(calls, plan.exchanges_in_memory):
        if call is not None:
            device.launch(plan.name, call, buffers, plan.memory)
        if exchange is None:
            continue
        recorder = device.recorder
        if recorder is None:
            make_exchange(exchange, ranks, [buffer.address for buffer in buffers])
        else:
            used = dict.fromkeys(piece.buffer for piece in (*exchange.read, *exchange.written))
            recorder.require_own_thread(plan.name, device)
            recorder.exchange(
                _Replayed(exchange, ranks, {index: buffers[index] for index in used}),
                [(buffers[index], plan.memory[index]) for index in used],
            )


class _Replayed:
    """An exchange of a trace: the addresses are those of the buffers at each replay."""

    def __init__(self, exchange: PlanExchange, ranks: MeshRanks | None, buffers: dict[int, Buffer]) -> None:
        self._exchange, self._ranks, self._buffers = exchange, ranks, buffers

    def __call__(self) -> None:
        make_exchange(self._exchange, self._ranks, self)

    def __getitem__(self, index: int) -> int:
        return int(address_of(self._buffers[index]))


def make_exchange(exchange: PlanExchange, ranks: MeshRanks | None, addresses: Sequence[int] | _Replayed) -> None:
    """Exchange with the other ranks what lies at the addresses of a plan's memory.

    Raises:
        DistributedError: A rank calls something else, is lost or late; or no other rank shares the mesh.
    """
    from ttnn_jit.runtime.ranks.headers import Data
    from ttnn_jit.runtime.ranks.transport import Region

    call = _call_of(exchange.call)
    if ranks is None:
        raise DistributedError(
            f"{call.text} is with other ranks, and all devices are of this one", location=call.location
        )

    def region(piece: Piece) -> Region:
        return Region(addresses[piece.buffer] + piece.begin, piece.nbytes)

    def data(transfers: Sequence[Transfer]) -> list[Data]:
        return [Data(ranks.channel.ranks[each.rank], region(each.piece)) for each in transfers]

    def copy_own_parts() -> None:
        for target, source in exchange.copies:
            ctypes.memmove(region(target).address, region(source).address, target.nbytes)

    ranks.channel.exchange(call, data(exchange.sends), data(exchange.receives), meanwhile=copy_own_parts)


@lru_cache(maxsize=1024)
def _call_of(call: ExchangeCall) -> Call:
    from ttnn_jit.runtime.ranks.headers import Call

    return Call(call.text, call.key, call.file, call.line)
