"""The contenders that run a program, and their interleaved timing.

Every contender runs in its own process, unpinned, warm, with its own threads and its best flags. For a case all of them
prepare; then they take turns, one measuring while the others sleep, so that a drift of the machine's speed affects all.
A contender's time is the median of its rounds, a ratio the median of the rounds' ratios. The tenth percentile of every
round is kept too: on a shared machine, programs of several threads that wait for each other lose milliseconds at a
time, so that only their undisturbed times can be compared.

*tuned* is torch.compile with an allocator that keeps its pages: glibc's returns results of 32 MB and more to the system
at every call, which costs page faults that a pooled allocator such as ours does not have. *into out* is torch.compile
of a function that writes to a given tensor. The flags are ``fullgraph=True, dynamic=False`` under
``torch.inference_mode``; ``max-autotune`` has no effect on these programs, and ``cpp_wrapper`` makes no call faster.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.harness.process import Process, ProcessFailedError
from benchmarks.harness.programs import COPY, ELEMENTWISE, NAMED, Workload, torch_operations, ttnn_operations
from benchmarks.harness.timing import times_of

WORKLOADS: dict[str, Workload] = ELEMENTWISE | NAMED | {"copy": COPY}
OURS, CHIP = "ttnn_jit cpu", "ttnn_jit wormhole_b0"
EAGER, PEER, TUNED, INTO = "eager torch", "torch.compile", "torch.compile tuned", "torch.compile into out"
TUNED_ALLOCATOR = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=1073741824"
INTO_FROM_BYTES = 8 << 20  # of the result; reusing smaller buffers costs nothing
PERIOD = 1 << 20  # elements after which inputs repeat, since generating them takes long
CHECKED = 1 << 16  # elements at the start and at the end of a result


@dataclass(frozen=True)
class Case:
    """One program on inputs of one shape and dtype (f32 or bf16)."""

    workload: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def name(self) -> str:
        """The case in tables."""
        return f"{self.workload} {self.dtype} {self.shape_text}"

    @property
    def shape_text(self) -> str:
        """``1024x1024``."""
        return "x".join(map(str, self.shape))

    @property
    def elements(self) -> int:
        """Elements of each input, and of the result."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that a perfectly fused program moves: each input and the result once."""
        return (WORKLOADS[self.workload].inputs + 1) * self.result_bytes

    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
        return self.elements * (4 if self.dtype == "f32" else 2)


def inputs_of(case: Case) -> list[Any]:
    """The case's torch tensors, equal in every process: normally distributed like activations, or above 1.

    They are not limited to an interval: the speed of bfloat16 lookups depends on the number of distinct values.
    """
    import torch

    generator = torch.Generator().manual_seed(0)
    dtype = torch.float32 if case.dtype == "f32" else torch.bfloat16
    tensors = []
    workload = WORKLOADS[case.workload]
    for _ in range(workload.inputs):
        numbers = torch.randn(min(case.elements, PERIOD), generator=generator)
        period = (1 + numbers.abs() if workload.above_one else numbers).to(dtype)
        repeated = period.repeat(-(-case.elements // PERIOD)) if case.elements > PERIOD else period
        tensors.append(repeated[: case.elements].reshape(case.shape).clone())
    return tensors


# The code up to `Contenders` runs in the contender's process.


@dataclass
class _Current:
    """The case that this process has prepared."""

    call: Callable[[], Any] = field(default=lambda: None)


_CURRENT = _Current()


def prepare(contender: str, case_fields: dict[str, Any]) -> dict[str, Any]:
    """Makes the timed call; its error against float64, or the reason why it is refused."""
    import torch

    torch._dynamo.reset()
    case = Case(case_fields["workload"], tuple(case_fields["shape"]), case_fields["dtype"])
    tensors = inputs_of(case)
    with torch.inference_mode():
        try:
            call = _call_of(contender, case, tensors)
            result = call()
        except ValueError as error:  # a chip target refuses shapes that are not whole tiles
            return {"refused": str(error)}
        _CURRENT.call = call
        return {"error": _error(case, tensors, result.to_torch() if contender == CHIP else result)}


def _call_of(contender: str, case: Case, tensors: list[Any]) -> Callable[[], Any]:
    workload = WORKLOADS[case.workload]
    if contender in {OURS, CHIP}:
        import ttnn_jit
        from ttnn_jit import ttnn

        function = ttnn_jit.jit(workload.over(ttnn_operations()))
        if contender == CHIP:
            device = ttnn.open_device(device_id=0)
            tensors = [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in tensors]
        return lambda: function(*tensors)
    import torch

    function = workload.over(torch_operations())
    if contender == EAGER:
        return lambda: function(*tensors)
    if contender == INTO:
        out = torch.empty_like(tensors[0])
        into = torch.compile(lambda *xs: xs[0].copy_(function(*xs[1:])), fullgraph=True, dynamic=False)
        return lambda: into(out, *tensors)
    compiled = torch.compile(function, fullgraph=True, dynamic=False)
    return lambda: compiled(*tensors)


def _error(case: Case, tensors: list[Any], result: Any) -> float:
    """Largest error over both ends of the result, relative to the largest number there."""
    function = WORKLOADS[case.workload].over(torch_operations())
    worst = 0.0
    for part in (slice(0, CHECKED), slice(-CHECKED, None)):
        golden = function(*(tensor.reshape(-1)[part].double() for tensor in tensors))
        got = result.reshape(-1)[part].double()
        worst = max(worst, float((got - golden).abs().max() / golden.abs().max()))
    return worst


def timed(seconds: float) -> tuple[float, float]:
    """Median and tenth percentile of a call's seconds, from calls over `seconds`."""
    import torch

    with torch.inference_mode():
        times = sorted(times_of(_CURRENT.call, seconds))
    return statistics.median(times), times[len(times) // 10]


def samples(count: int) -> list[int]:
    """Nanoseconds of `count` single calls, with two readings of the clock included."""
    import torch

    call, clock, found = _CURRENT.call, time.perf_counter_ns, []
    with torch.inference_mode():
        for _ in range(1000):
            call()
        for _ in range(count):
            start = clock()
            call()
            found.append(clock() - start)
    return found


class Contenders:
    """The processes of a benchmark's contenders, started on first use."""

    def __init__(self, cache: str) -> None:
        self._cache = cache
        self._processes: dict[str, Process] = {}

    def compare(self, case: Case, contenders: tuple[str, ...], rounds: int, seconds: float) -> dict[str, Any]:
        """Contender -> seconds of every round, ``fast`` (tenth percentiles) and error; or the reason of a refusal."""
        found: dict[str, dict[str, Any]] = {
            name: self.call(name, prepare, name, asdict(case)) | {"seconds": [], "fast": []} for name in contenders
        }
        for _ in range(rounds):
            for name in contenders:
                if "refused" not in found[name]:
                    median, fast = self.call(name, timed, seconds)
                    found[name]["seconds"].append(median)
                    found[name]["fast"].append(fast)
        return found

    def call(self, contender: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """`function` in the contender's process, which is replaced if it ends.

        Raises:
            ProcessFailedError: It ended.
        """
        if contender not in self._processes:
            self._processes[contender] = Process(self._variables(contender))
        try:
            return self._processes[contender].call(function, *arguments)
        except ProcessFailedError:
            self._processes.pop(contender).__exit__()
            raise

    def _variables(self, contender: str) -> dict[str, str]:
        variables = {
            "TTNN_JIT_CACHE_DIR": f"{self._cache}/ttnn_jit",
            "TORCHINDUCTOR_CACHE_DIR": f"{self._cache}/inductor",
        }
        return variables | ({"GLIBC_TUNABLES": TUNED_ALLOCATOR} if contender == TUNED else {})

    def close(self) -> None:
        """Ends all processes."""
        for process in self._processes.values():
            process.__exit__()
        self._processes.clear()


@contextlib.contextmanager
def contenders() -> Iterator[Contenders]:
    """Contenders with separate disk caches, which start empty."""
    with tempfile.TemporaryDirectory() as cache, contextlib.closing(Contenders(cache)) as running:
        yield running
