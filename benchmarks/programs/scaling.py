"""A tensor-parallel layer of Llama on 1 to 32 devices: planned for the chips of a Galaxy, and measured in this process.

The layer has about the sizes of Llama 3.2 1B, with as many heads of keys as of queries, in bfloat16, for 32 tokens.
Each device has a part of the heads and of the hidden channels, and two all_reduce a layer add what they compute. The
plan for chips is that of `explain(machine="galaxy")`, and the time in which each chip reads its weights from DRAM: a
chip needs longer. In this process all devices are one CPU: the measured time is that of all devices, and would be the
same for any number if to split cost nothing. Processor time of one thread; meshes take turns, and the least of many
rounds counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness import plots
from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.threads import on_threads

COUNTS = [1, 2, 4, 8, 16, 32]
MACHINE = "galaxy"
DRAM_BYTES_PER_SECOND = 288e9
"""Of a Wormhole (tt-metal, tech_reports/FlashAttention/FlashAttention.md)."""
TOKENS, HEADS, HEAD_DIM, HIDDEN = 32, 32, 64, 8192
DIM = HEADS * HEAD_DIM
Found = Mapping[str, float]


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """One step: the meshes take turns."""
    with on_threads(1):
        yield [Step("layer", 60, partial(measure, 3 if quick else 30))]


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds of the layer on a mesh of each number of devices, and of its plan."""
    layers = {count: prepared(count) for count in COUNTS}
    found = {}
    for count, (layer, operands, weight_bytes) in layers.items():
        links = layer.explain(*operands, machine=MACHINE).links
        found[str(count)] = {
            "measured": float("inf"),
            "weights": weight_bytes / count / DRAM_BYTES_PER_SECOND * 1e6,
            "bound": links.bound * 1e6,
            "estimate": links.estimate * 1e6,
        }
        layer(*operands)
    for _ in range(rounds):
        for count, (layer, operands, _) in layers.items():
            begin = time.process_time_ns()
            layer(*operands)
            own = found[str(count)]
            own["measured"] = min(own["measured"], (time.process_time_ns() - begin) / 1000)
    return found


def prepared(count: int) -> tuple[Any, list[Any], int]:
    """The jitted layer, its operands on a mesh in a row, and the bytes of all weights."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, count), target="cpu")

    def on(values: Any, mapper: Any) -> Any:
        return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)

    def weight(rows: int, columns: int, dim: int) -> Any:
        values = torch.randn(rows, columns, dtype=torch.bfloat16) * rows**-0.5
        return on(values, ttnn.ShardTensorToMesh(mesh, dim=dim))

    def layer(x: Any, *weights: Any) -> Any:
        return llama_layer(x, *weights, heads=HEADS // count)

    x = on(torch.randn(1, 1, TOKENS, DIM, dtype=torch.bfloat16), ttnn.ReplicateTensorToMesh(mesh))
    extents = [(DIM, 3 * DIM, 1), (DIM, DIM, 0), (DIM, HIDDEN, 1), (DIM, HIDDEN, 1), (HIDDEN, DIM, 0)]
    weights = [weight(*each) for each in extents]
    return ttnn_jit.jit()(layer), [x, *weights], 2 * sum(rows * columns for rows, columns, _ in extents)


def llama_layer(x: Any, qkv: Any, out: Any, gate: Any, up: Any, down: Any, *, heads: int) -> Any:
    """Attention and the multilayer perceptron, each with its norm and its sum over devices."""
    from ttnn_jit import ttnn

    fused = ttnn.matmul(ttnn.rms_norm(x), qkv)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads(
        fused, num_heads=heads, num_kv_heads=heads, transpose_k_heads=False
    )
    attended = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + ttnn.all_reduce(ttnn.matmul(ttnn.experimental.nlp_concat_heads(attended), out))
    h = ttnn.rms_norm(x)
    return x + ttnn.all_reduce(ttnn.matmul(ttnn.silu(ttnn.matmul(h, gate)) * ttnn.matmul(h, up), down))


def report(results: Mapping[str, Mapping[str, Found]], plots_: Plots) -> str:
    """The plot, and a row per number of devices."""
    from ttnn_jit.ops.collectives.link_fit import link_fit

    counts = [int(count) for count in results["layer"]]
    found = list(results["layer"].values())
    curves: dict[str, Callable[[Found], float]] = {
        "weights from DRAM": lambda each: each["weights"],
        "and bound of links": lambda each: each["weights"] + each["bound"],
        "and estimate of links": lambda each: each["weights"] + each["estimate"],
    }
    figure, ((left, right),) = plots.panels(1, 2, 3.2, 2.6)
    for label, curve in curves.items():
        left.plot(counts, [curve(each) for each in found], marker="o", label=label)
    left.set_yscale("log")
    left.set_title(f"us of a layer, planned for {MACHINE}")
    left.legend()
    right.plot(counts, [each["measured"] / found[0]["measured"] for each in found], marker="o")
    right.set_ylim(bottom=0)
    right.set_title("processor time here, over one device's")
    for axis in (left, right):
        axis.set_xscale("log", base=2)
        axis.set_xticks(counts, map(str, counts))
        axis.set_xlabel("devices")
    plots.save(figure, plots_.path())
    head = ["devices", "weights, us", "links at least, us", "links, estimate, us", "speed-up", "here, ms", "over one"]
    rows = [head]
    for count, each in zip(counts, found, strict=True):
        planned = each["weights"] + each["estimate"]
        rows.append(
            [
                str(count),
                *(f"{each[name]:.1f}" for name in ("weights", "bound", "estimate")),
                f"{(found[0]['weights'] + found[0]['estimate']) / planned:.1f}",
                f"{each['measured'] / 1000:.1f}",
                f"{each['measured'] / found[0]['measured']:.2f}",
            ]
        )
    shown = plots_.shown("planned and measured times of a layer against the number of devices")
    return f"{shown}\n{table(rows)}\nEstimates: {link_fit()}. The speed-up is planned, with the estimate.\n"


BENCHMARK = Benchmark("scaling", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
