"""Ranks that are threads of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from ttnn_jit.runtime.ranks.in_process import Switchboard
from ttnn_jit.runtime.ranks.rank_environment import Binding
from ttnn_jit.runtime.ranks.world import RANK_OF_THREAD, World


def in_ranks(
    count: int, function: Callable[[int], Any], *, timeout: float = 20.0, bindings: list[Binding] | None = None
) -> list[Any]:
    """What `function` returns for each rank, called in a thread that is this rank; an error is returned as it is."""
    results: list[Any] = [None] * count

    def run(rank: int, transport: Any) -> None:
        try:
            binding = bindings[rank] if bindings else Binding(0, rank)
            RANK_OF_THREAD.set(World(transport, timeout, binding))
            results[rank] = function(rank)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            results[rank] = error
        finally:
            transport.close()

    transports = Switchboard(count).transports()
    threads = [
        threading.Thread(target=copy_context().run, args=(run, rank, transport), daemon=True)
        for rank, transport in enumerate(transports)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a rank hangs"
    return results
