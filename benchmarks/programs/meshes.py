"""Meshes: a program for eight devices beside a program for one, warm and cold.

All devices of a mesh are this CPU, so that the bound of a call on eight devices is eight calls on one. Variants are
called in turns on one thread; the least of many rounds counts. Further programs are called on one thread and on two. A
cold compile starts without programs in memory and on disk, in a process that has compiled before; its processor time
counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.threads import on_threads

DEVICES = 8
GOALS = {
    "warm call, 32x32": "1 and 2 us",
    "replicated call, 32x32": "1 and 3 us",
    "all_reduce of 1 MB, then a part": "1.25",
    "all_reduce of 1 MB": "1.25",
    "all_gather of 1 MB each": "1.2",
    "multilayer perceptron": "1.15",
    "attention": "1.15",
}
"""By program, the most that a call may take over its bound."""
Calls = Mapping[str, Callable[[], Any]]
"""Variant -> a call of it."""


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per row."""
    rounds = 5 if quick else 40
    warm = {
        "warm call, 32x32": elementwise((32, 32)),
        "warm call, 128x1024": elementwise((128, 1024)),
        "replicated call, 32x32": replicated,
        "all_reduce of 1 MB, then a part": summed,
        "all_reduce of 1 MB": summed_on_all,
        "all_reduce of 1 MB, then an activation": activated,
        "all_gather of 1 MB each": gathered_on_all,
        "all_gather of 1 MB, then a product": gathered,
        "multilayer perceptron": perceptron,
        "attention": attention,
    }
    measured = [Step(name, 3, partial(_warm, prepare, rounds)) for name, prepare in warm.items()]
    cold = [Step(f"cold compile, {name}", 5, partial(_cold, name, rounds)) for name in ("elementwise", "collectives")]
    shared = {
        "elementwise, 64x64": elementwise((64, 64)),
        "elementwise, 128x128": elementwise((128, 128)),
        "elementwise, 256x256": elementwise((256, 256)),
        "elementwise, 512x512": elementwise((512, 512)),
        "matmul, 64x64": product(64),
        "matmul, 128x128": product(128),
        "matmul, 256x256": product(256),
        "two products and a softmax, 64x64": layer(64),
    }
    threads = [Step(f"threads, {name}", 3, partial(_threads, prepare, rounds)) for name, prepare in shared.items()]
    with on_threads(1):
        yield [*measured, *threads, *cold]


def _warm(prepare: Callable[[], Calls], rounds: int) -> dict[str, float]:
    """Microseconds of the fastest call of each variant."""
    calls = prepare()
    for call in calls.values():
        for _ in range(3):
            call()
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter_ns()
            repeats = 0
            while time.perf_counter_ns() - begin < 2_000_000:
                started = time.perf_counter_ns()
                call()
                repeats += 1
                least[name] = min(least[name], (time.perf_counter_ns() - started) / 1000)
    return least


def _threads(prepare: Callable[[], Calls], rounds: int) -> dict[str, float]:
    """Microseconds of the fastest call on eight devices, by the number of threads."""
    call = prepare()["mesh"]
    least = {1: float("inf"), 2: float("inf")}
    for _ in range(rounds):
        for threads, before in least.items():
            with on_threads(threads):
                least[threads] = min(before, _warm(lambda: {"mesh": call}, 1)["mesh"])
    return {str(threads): time for threads, time in least.items()}


def _opened(count: int = DEVICES) -> tuple[Any, Any]:
    """A mesh in a row, and one device."""
    from ttnn_jit import ttnn

    return ttnn.open_mesh_device(ttnn.MeshShape(1, count), target="cpu"), ttnn.open_device(device_id=0, target="cpu")


def _on(device: Any, values: Any, dim: int | None = None) -> Any:
    """A tensor of a device; or of a mesh, split along `dim`, or whole on each device."""
    from ttnn_jit import ttnn

    if device.get_num_devices() == 1:
        return ttnn.from_torch(values, device=device)
    mapper = ttnn.ReplicateTensorToMesh(device) if dim is None else ttnn.ShardTensorToMesh(device, dim)
    return ttnn.from_torch(values, device=device, mesh_mapper=mapper)


def elementwise(shape: tuple[int, int]) -> Callable[[], Calls]:
    """A chain of elementwise operations on tensors of this shape, on each device."""

    def prepare() -> Calls:
        import torch

        import ttnn_jit
        from ttnn_jit import ttnn

        mesh, one = _opened()
        jitted = [ttnn_jit.jit()(lambda x: ttnn.relu(ttnn.exp(x) + 1.0)) for _ in range(2)]
        x, own = _on(mesh, torch.randn(DEVICES * shape[0], shape[1]), 0), _on(one, torch.randn(shape))
        return {"mesh": partial(jitted[0], x), "one device": partial(jitted[1], own)}

    return prepare


def replicated() -> Calls:
    """The same chain on a tensor that is whole on each device."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh, one = _opened()
    jitted = [ttnn_jit.jit()(lambda x: ttnn.relu(ttnn.exp(x) + 1.0)) for _ in range(2)]
    return {
        "mesh": partial(jitted[0], _on(mesh, torch.randn(32, 32))),
        "one device": partial(jitted[1], _on(one, torch.randn(32, 32))),
    }


def _of_a_megabyte(program: Callable[[Any], Any]) -> Calls:
    import torch

    import ttnn_jit

    mesh, _ = _opened()
    whole = torch.randn(DEVICES, 512, 512)
    x = _on(mesh, whole, 0)
    return {"mesh": partial(ttnn_jit.jit()(program), x), "reading": partial(torch.sum, whole, 0)}


def summed() -> Calls:
    """The sum over devices, of which each keeps a part, beside torch's sum of the same numbers."""
    from ttnn_jit import ttnn

    return _of_a_megabyte(lambda x: ttnn.mesh_partition(ttnn.all_reduce(x), 1))


def summed_on_all() -> Calls:
    """The sum over devices, on each of them."""
    from ttnn_jit import ttnn

    return _of_a_megabyte(lambda x: ttnn.all_reduce(x, cluster_axis=1))


def activated() -> Calls:
    """A function of the sum, in the loop of the sum, beside a program for the sum and one for the function."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh, _ = _opened()
    x = _on(mesh, torch.randn(DEVICES, 512, 512), 0)
    both = ttnn_jit.jit()(lambda x: ttnn.relu(ttnn.all_reduce(x)) + 1.0)
    total = ttnn_jit.jit()(lambda x: ttnn.all_reduce(x, cluster_axis=1))
    function = ttnn_jit.jit()(lambda x: ttnn.relu(x) + 1.0)
    return {"mesh": partial(both, x), "two programs": lambda: function(total(x))}


def gathered_on_all() -> Calls:
    """The tensors of all devices on each of them, beside one copy of the result."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh, _ = _opened()
    whole = torch.randn(DEVICES * 512, 512)
    target = torch.empty_like(whole)
    x = _on(mesh, whole, 0)
    return {"mesh": partial(ttnn_jit.jit()(lambda x: ttnn.all_gather(x, 0)), x), "copy": lambda: target.copy_(whole)}


def gathered() -> Calls:
    """A product with gathered weights, beside a copy of the weights and eight products."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh, one = _opened()
    weight = torch.randn(512, 512)
    x, shards = _on(mesh, torch.randn(32 * DEVICES, 512), 0), _on(mesh, weight, 0)
    own, whole = _on(one, torch.randn(32, 512)), _on(one, weight)
    product = ttnn_jit.jit()(lambda x, w: ttnn.matmul(x, ttnn.all_gather(w, 0)))
    alone = ttnn_jit.jit()(lambda x, w: ttnn.matmul(x, w, transpose_b=False))
    return {"mesh": partial(product, x, shards), "one device": partial(alone, own, whole)}


def product(extent: int) -> Callable[[], Calls]:
    """A product of matrices of this size, and an activation, on each device."""

    def prepare() -> Calls:
        import torch

        import ttnn_jit
        from ttnn_jit import ttnn

        mesh, _ = _opened()
        x, w = (_on(mesh, torch.randn(DEVICES * extent, extent), 0) for _ in range(2))
        return {"mesh": partial(ttnn_jit.jit()(lambda x, w: ttnn.relu(ttnn.matmul(x, w))), x, w)}

    return prepare


def layer(extent: int) -> Callable[[], Calls]:
    """Launches that depend on each other on each device."""

    def prepare() -> Calls:
        import torch

        import ttnn_jit
        from ttnn_jit import ttnn

        mesh, _ = _opened()
        operands = [_on(mesh, torch.randn(DEVICES * extent, extent), 0) for _ in range(3)]
        layer = ttnn_jit.jit()(lambda x, w, v: ttnn.matmul(ttnn.softmax(ttnn.matmul(x, w), -1), v))
        return {"mesh": partial(layer, *operands)}

    return prepare


def perceptron() -> Calls:
    """Two products, split over the devices, and a sum, beside the same on one device."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh, one = _opened()
    x, up, down = torch.randn(256, 1024), torch.randn(1024, 4096), torch.randn(4096, 1024)
    split = ttnn_jit.jit()(lambda x, a, b: ttnn.all_reduce(ttnn.matmul(ttnn.relu(ttnn.matmul(x, a)), b)))
    alone = ttnn_jit.jit()(lambda x, a, b: ttnn.matmul(ttnn.relu(ttnn.matmul(x, a)), b))
    return {
        "mesh": partial(split, _on(mesh, x), _on(mesh, up, 1), _on(mesh, down, 0)),
        "one device": partial(alone, *(_on(one, each) for each in (x, up, down))),
    }


def attention() -> Calls:
    """Attention whose heads are split over the devices, and a sum, beside the same on one device."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    mesh, one = _opened()
    rows, width, heads = 256, 1024, 16
    x, *weights, out = torch.randn(rows, width), *(torch.randn(width, width) / 32 for _ in range(4))

    def attended(own_heads: int) -> Callable[..., Any]:
        def forward(x: Any, q: Any, k: Any, v: Any, out: Any) -> Any:
            q, k, v = (
                ttnn.permute(ttnn.reshape(ttnn.matmul(x, each), (1, rows, own_heads, width // heads)), (0, 2, 1, 3))
                for each in (q, k, v)
            )
            found = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=True)
            return ttnn.matmul(ttnn.reshape(ttnn.permute(found, (0, 2, 1, 3)), (rows, own_heads * width // heads)), out)

        return forward

    alone, part = attended(heads), attended(heads // DEVICES)
    split = ttnn_jit.jit(graph_capture=True)(lambda x, q, k, v, out: ttnn.all_reduce(part(x, q, k, v, out)))
    whole = ttnn_jit.jit(graph_capture=True)(alone)
    return {
        "mesh": partial(split, _on(mesh, x), *(_on(mesh, each, 1) for each in weights), _on(mesh, out, 0)),
        "one device": partial(whole, *(_on(one, each) for each in (x, *weights, out))),
    }


def _cold(kind: str, rounds: int) -> dict[str, float]:
    """Milliseconds of processor time of a compile and its first run, by the number of devices."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn
    from ttnn_jit.compiler.stored_programs import IN_MEMORY

    def layers(x: Any, w: Any) -> Any:
        for _ in range(4):
            product = ttnn.matmul(x, w)
            hidden = ttnn.softmax(product if kind == "elementwise" else ttnn.all_reduce(product), -1)
            x = ttnn.relu(ttnn.exp(hidden) + x) * 0.5
        return x

    found = {}
    for count in (1, 8, 32):
        mesh = _opened(count)[0] if count > 1 else _opened()[1]
        operands = [_on(mesh, torch.randn(64 * count, 64), 0) for _ in range(2)]
        times = []
        for _ in range(max(rounds // 4, 3)):
            IN_MEMORY.clear()
            jitted = ttnn_jit.jit(enable_cache=False)(layers)
            begin = time.process_time_ns()
            jitted(*operands)
            times.append(time.process_time_ns() - begin)
        found[str(count)] = min(times) / 1e6
    return found


def report(results: Mapping[str, Any], _: Plots) -> str:
    """The page of the results."""
    return f"{warm_calls(results)}\n{shared_calls(results)}\n{cold_compiles(results)}"


_ON_ONE_DEVICE = {"multilayer perceptron", "attention", "replicated call, 32x32"}
"""Programs whose bound is one call on one device."""


def warm_calls(results: Mapping[str, Any]) -> str:
    """A row per program: the call on eight devices, and its bound."""
    rows = [["call on 8 devices", "us", "bound, us", "ratio", "at most", "the bound"]]
    for name, found in results.items():
        if "mesh" not in found:
            continue
        other = next(variant for variant in found if variant != "mesh")
        whole = other in {"reading", "copy", "two programs"} or name in _ON_ONE_DEVICE
        bound = found[other] * (1 if whole else DEVICES)
        what = {"reading": "torch's sum", "copy": "torch's copy", "two programs": other}.get(
            other, "one device" if whole else "8 calls on one device"
        )
        ratio = f"{found['mesh'] / bound:.2f}"
        rows.append([name, f"{found['mesh']:.1f}", f"{bound:.1f}", ratio, GOALS.get(name, ""), what])
    return table(rows)


def shared_calls(results: Mapping[str, Any]) -> str:
    """A row per program: the call on eight devices on one thread and on two."""
    rows = [["call on 8 devices", "1 thread, us", "2 threads, us", "1 / 2"]]
    for name, found in results.items():
        if {*found} == {"1", "2"}:
            one, two = found["1"], found["2"]
            rows.append([name.removeprefix("threads, "), f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}"])
    return table(rows)


def cold_compiles(results: Mapping[str, Any]) -> str:
    """A row per program: the compile for several devices over that for one."""
    rows = [["compile and first run", "1 device, ms", "8 devices, ms", "32 devices, ms", "8 / 1", "32 / 1"]]
    for name, found in results.items():
        if "32" in found:
            one, eight, most = (found[count] for count in ("1", "8", "32"))
            ratios = [f"{each / one:.2f}" for each in (eight, most)]
            rows.append([name, *(f"{each:.1f}" for each in (one, eight, most)), *ratios])
    return table(rows)


BENCHMARK = Benchmark("meshes", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
