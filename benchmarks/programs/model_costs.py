"""Costs of whole models besides the time of a call: memory, compile times by depth, eager operations on small tensors.

- *Memory*: the peak of a new process while a model runs, minus its memory after its imports; torch's module is dropped
  unless it runs itself. In bfloat16 torch would take half of its memory in float32.
- *Compiles*: the first call of a jitted BERT minus a warm one, by its number of layers, of about 32 operations each;
  the whole first call of BERT-base in a new process, with an empty and with a filled disk cache.
- *Small operations*: nanoseconds of an eager call.
"""

from __future__ import annotations

import ctypes
import gc
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.harness import Step, table
from benchmarks.harness.process import Process
from benchmarks.harness.timing import seconds, times_of
from benchmarks.programs.model_programs import JIT, Model, built, in_torch, module_of

HELD = {"bert": 1, "vit": 1, "gpt2": None}
"""Model whose memory is measured -> batch."""
HOLDERS = ("torch f32", "ttnn eager", "ttnn jit")
LAYERS = (2, 3, 6, 12, 24, 32)
OPERATIONS = ("add", "multiply", "exp", "gelu", "sigmoid")
EXTENTS = (32, 64, 128, 256)
TURNS = 5
"""Rounds of measuring all small operations."""
CALLERS = ("cpu", "wormhole_b0", "torch")


def steps(quick: bool) -> list[Step]:
    """The steps of all three parts."""
    return [
        *(Step(f"memory of {name}", 15, partial(held, name, quick)) for name in HELD),
        Step("compiles by layers", 10, partial(compiles, LAYERS[: 2 if quick else None])),
        Step("first calls", 8, partial(first_calls, quick)),
        *(Step(f"small operations, {caller}", 3, partial(small, caller, quick)) for caller in CALLERS),
    ]


# --- Memory -----------------------------------------------------------------------------------------------------------


def held(name: str, quick: bool) -> dict[str, int]:
    """Contender -> peak bytes."""
    found = {}
    for holder in HOLDERS:
        with Process({}) as process:
            found[holder] = process.call(peak_bytes, name, HELD[name], holder, quick)
    return found


def peak_bytes(name: str, batch: int | None, holder: str, quick: bool) -> int:
    """The peak bytes of a contender, in a separate process."""
    import_everything()
    before = _status("VmRSS")
    _, run, reference = built(Model(name, batch), quick=quick, jitted=holder == JIT)
    if holder.startswith("torch"):
        run = in_torch(reference, holder)
    del reference, _
    from ttnn_jit.runtime.memory.buffer import HOST_POOL

    gc.collect()
    HOST_POOL.release_idle()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
    for _ in range(3):
        run()
    return _status("VmHWM") - before


def import_everything() -> None:
    """Loads everything that a first call loads, by compiling and running a small program."""
    import torch

    from ttnn_jit import jit, ttnn

    torch.softmax(jit(enable_cache=False)(lambda x: ttnn.exp(x) + 1.0)(torch.ones(64, 64)), -1)


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{field}:"))


# --- Compiles ---------------------------------------------------------------------------------------------------------


def compiles(layers: Sequence[int]) -> dict[str, float]:
    """Layers -> seconds of a compile, in one process, after a compile of a one-layer model."""
    with tempfile.TemporaryDirectory() as folder, Process({"TTNN_JIT_CACHE_DIR": folder}) as process:
        process.call(compile_seconds, 1)
        return {str(count): process.call(compile_seconds, count) for count in layers}


def compile_seconds(layers: int) -> float:
    """Seconds of the first call of a small BERT, minus a warm one."""
    first, warm = _first_and_warm(layers, quick=True)
    return first - warm


def _first_and_warm(layers: int, *, quick: bool) -> tuple[float, float]:
    from ttnn_jit import jit, ttnn

    module = module_of("bert")
    config = replace(module.SMALL if quick else module.FULL, num_hidden_layers=layers)
    run, _ = module.build(config, ttnn.open_device(device_id=0, target="cpu"), batch=1, compiled=jit())
    return seconds(run), min(seconds(run) for _ in range(3))


def first_calls(quick: bool) -> dict[str, float]:
    """Seconds of the first call of BERT-base, in two successive processes."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for state in ("an empty cache", "a second process"):
            with Process({"TTNN_JIT_CACHE_DIR": folder}) as process:
                found[state] = process.call(first_call, quick)
    return found


def first_call(quick: bool) -> float:
    """Seconds of the first call of BERT-base, in this process."""
    return _first_and_warm(12, quick=quick)[0]


# --- Small operations -------------------------------------------------------------------------------------------------


def small(caller: str, quick: bool) -> dict[str, float]:
    """Operation, element type and extent -> nanoseconds of a call."""
    with Process({}) as process:
        return process.call(nanoseconds, caller, 0.002 if quick else 0.03)  # type: ignore[no-any-return]


def nanoseconds(caller: str, duration: float) -> dict[str, float]:
    """In a separate process: the minimum of calls over `duration` seconds each, in several rounds.

    The rounds are far enough apart that a preemption affects only one of them.
    """
    import torch

    torch.set_grad_enabled(False)
    calls = {
        f"{name} {kind} {extent}x{extent}": _small_call(caller, name, kind, extent)
        for name in OPERATIONS
        for kind in ("f32", "bf16")
        for extent in EXTENTS
    }
    turns = [{name: min(times_of(call, duration / TURNS)) for name, call in calls.items()} for _ in range(TURNS)]
    return {name: min(turn[name] for turn in turns) * 1e9 for name in calls}


def _small_call(caller: str, name: str, kind: str, extent: int) -> Callable[[], Any]:
    import torch

    from ttnn_jit import ttnn

    x = torch.randn(extent, extent, dtype=torch.float32 if kind == "f32" else torch.bfloat16)
    count = 2 if name in {"add", "multiply"} else 1
    if caller == "torch":
        functions: dict[str, Callable[..., Any]] = {"gelu": torch.nn.functional.gelu}
        return partial(functions.get(name) or getattr(torch, name), *[x] * count)
    device = ttnn.open_device(device_id=0, target=caller)
    return partial(getattr(ttnn, name), *[ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)] * count)


# --- Report -----------------------------------------------------------------------------------------------------------


def report(results: Mapping[str, Any]) -> str:
    """A table for each part that has results."""
    parts = (_memory_report(results), _compile_report(results), _small_report(results))
    return "\n".join(part for part in parts if part)


def _memory_report(results: Mapping[str, Any]) -> str:
    rows = [["MB at most", *HOLDERS, *(f"{each} / half of torch f32" for each in HOLDERS[1:])]]
    for name in HELD:
        if found := results.get(f"memory of {name}"):
            ratios = (f"{2 * found[holder] / found[HOLDERS[0]]:.2f}" for holder in HOLDERS[1:])
            rows.append([name, *(f"{found[holder] / 1e6:.0f}" for holder in HOLDERS), *ratios])
    return f"## Memory\n\n{table(rows)}" if rows[1:] else ""


def _compile_report(results: Mapping[str, Any]) -> str:
    lengths, firsts = results.get("compiles by layers", {}), results.get("first calls", {})
    rows = [["compile of BERT", "ms", "ms a layer"]]
    rows += [
        [f"{count} layers", f"{took * 1e3:.0f}", f"{took * 1e3 / int(count):.1f}"] for count, took in lengths.items()
    ]
    rows += [[f"first call of BERT-base, {state}", f"{took * 1e3:.0f}", "-"] for state, took in firsts.items()]
    return f"## Compiles\n\n{table(rows)}" if rows[1:] else ""


def _small_report(results: Mapping[str, Any]) -> str:
    found = {caller: results.get(f"small operations, {caller}") for caller in CALLERS}
    if not all(found.values()):
        return ""
    rows = [["ns of a call", *CALLERS, *(f"torch / {caller}" for caller in CALLERS[:2])]]
    for case in found["torch"] or ():
        times = {caller: each[case] for caller, each in found.items() if each}
        ratios = (f"{times['torch'] / times[caller]:.2f}" for caller in CALLERS[:2])
        rows.append([case, *(f"{times[caller]:.0f}" for caller in CALLERS), *ratios])
    return f"## Small operations\n\n{table(rows)}"
