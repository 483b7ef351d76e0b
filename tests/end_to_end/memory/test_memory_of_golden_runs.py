"""Memory of runs beside goldens: an op finds what later ops read, and no memory of earlier ones."""

from __future__ import annotations

import gc

import torch

from tests.end_to_end.texts.test_ops_of_texts import loaded
from ttnn_jit.compiler.texts import text_steps
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.sessions.text_runs import GoldenRun

WIDE, NARROW = 1 << 19, 1 << 18
LENGTH = 8


def chain_of(*extents):
    """A function whose op number k gives extents[k] elements: the op before negated, or as many of its elements."""
    lines, last = [], f"tensor<{extents[0]}xf32>"
    for number, extent in enumerate(extents[1:], 1):
        kind, value = f"tensor<{extent}xf32>", "%x" if number == 1 else f"%{number - 1}"
        ends = f"begins = [0 : i32], ends = [{extent} : i32], step = [1 : i32]"
        op = "ttir.neg" if kind == last else "ttir.slice_static"
        given = "" if kind == last else f" <{{{ends}}}>"
        lines.append(f'    %{number} = "{op}"({value}){given} : ({last}) -> {kind}')
        last = kind
    body = "\n".join(lines)
    head = f"func.func @main(%x: tensor<{extents[0]}xf32>) -> {last}"
    return loaded(f"{head} {{\n{body}\n    return %{len(extents) - 1} : {last}\n}}")


def test_idle_memory_is_given_back_before_an_op_is_compared(monkeypatch):
    found = []
    release_idle = text_steps._release_idle

    def noted():
        gc.collect()  # goldens may be in cycles
        release_idle()
        left = HOST_POOL.statistics().idle_bytes
        HOST_POOL.release_idle()
        found.append(left - HOST_POOL.statistics().idle_bytes)

    monkeypatch.setattr(text_steps, "IDLE_BYTES", NARROW)
    monkeypatch.setattr(text_steps, "_release_idle", noted)
    module = chain_of(WIDE, *(WIDE - number * (WIDE // 10) for number in range(LENGTH)))
    assert all(each.matches for each in GoldenRun(module, "main", [torch.rand(WIDE)]).compared())
    assert len(found) == LENGTH
    assert max(found) <= NARROW


def test_an_op_finds_no_operand_of_the_op_before_it(monkeypatch):
    module = chain_of(*[WIDE] * LENGTH)
    found = []
    monkeypatch.setattr(text_steps, "_release_idle", lambda: found.append(HOST_POOL.statistics().live_bytes - before))
    before = HOST_POOL.statistics().live_bytes
    assert all(each.matches for each in GoldenRun(module, "main", [torch.rand(WIDE)]).compared())
    operand = result = 4 * WIDE
    assert len(found) == LENGTH - 1
    assert max(found) <= operand + result
