"""Transfers between cores: the numbers of transactions and of networks."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rules.view import View, require

_TRANSACTIONS, _NETWORKS = 16, 2


def verify_transaction(op: Operation) -> None:
    """The number of the transaction, and that of the network, as far as they are constants."""
    view = View(op)
    for name, count in (("trid", _TRANSACTIONS), ("noc", _NETWORKS)):
        number = _constant(view.values[name][0]) if view.has(name) else None
        require(number is None or 0 <= number < count, f"{name} must be in [0, {count - 1}].")


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    held = owner.properties.get("value") if isinstance(owner, Operation) and owner.name == "arith.constant" else None
    return int(held.value.data) if isinstance(held, IntegerAttr) else None


NOC = dict.fromkeys(
    (
        "ttkernel.noc_async_read_barrier_with_trid",
        "ttkernel.noc_async_write_barrier_with_trid",
        "ttkernel.noc_async_write_one_packet_with_trid",
    ),
    (verify_transaction,),
)
