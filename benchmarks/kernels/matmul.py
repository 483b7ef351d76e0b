"""Products of matrices against torch's own, and against oneDNN with weights that were packed beforehand.

The contenders take turns (benchmarks/harness/turns.py). *linear* multiplies by weights that lie N x K,
*matmul* by a matrix K x N; with `gelu` a bias and the exact gelu follow. Of *bfp8* and *bfp4* our weights are block
floats, and all else, the peers' weights too, is bfloat16. *packed* is oneDNN's linear on weights that it reordered
before, which is no part of its time; where weights *stay*, ours are those of a ttnn tensor, which is packed once too.
*a read* sums up the right operand, for products of a few rows, which cannot take less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.turns import (
    OURS,
    SECONDS,
    geometric_rows,
    least,
    ratio,
    ratio_of_medians,
    set_call,
    thread_counts,
    turns,
)

TORCH, PACKED, READ = "torch", "packed", "a read"
FEW_ROWS = 8
"""Rows up to which a product is bound by reading its right operand."""


@dataclass(frozen=True)
class Product:
    """A product of matrices.

    Attributes:
        kind: ``matmul`` or ``linear``.
        dtype: ``f32``, ``bf16``, or ``bfp8`` or ``bfp4`` for weights that are block floats.
        extents: Batch, if there is one, rows, inner extent, columns.
        gelu: Whether a bias and gelu follow.
        stays: Whether our weights are a ttnn tensor, which is packed once, not a torch tensor, which each call packs.
    """

    kind: str
    dtype: str
    extents: tuple[int, ...]
    gelu: bool = False
    stays: bool = False

    @property
    def name(self) -> str:
        """The product in tables."""
        extents = "x".join(map(str, self.extents))
        return f"{self.kind}{' + gelu' * self.gelu} {self.dtype} {extents}{', stays' * self.stays}"

    @property
    def contenders(self) -> tuple[str, ...]:
        """The contenders: oneDNN packs matrices; a read bounds products of few rows."""
        packed = (PACKED,) if len(self.extents) == 3 else ()
        return (OURS, TORCH, *packed, *((READ,) if self.extents[-3] <= FEW_ROWS else ()))

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * math.prod(self.extents)


SQUARES = (32, 64, 128, 256, 512, 1024, 2048)
CASES = [
    case
    for dtype in ("f32", "bf16")
    for case in (
        *(Product("matmul", dtype, (n, n, n)) for n in SQUARES),
        *(Product(kind, dtype, (rows, 768, 3072)) for rows in (128, 512) for kind in ("matmul", "linear")),
        *(Product("linear", dtype, (rows, 768, 3072), gelu=True) for rows in (256, 512)),
        *(Product(kind, dtype, (rows, 2048, 16384)) for rows in (1, 8) for kind in ("matmul", "linear")),
        *(Product("linear", dtype, (rows, 768, 3072), stays=True) for rows in (16, 32, 64, 128)),
        *(Product("linear", dtype, (rows, 2048, 16384), stays=True) for rows in (1, 8)),
        Product("matmul", dtype, (12, 128, 64, 128)),
        Product("matmul", dtype, (12, 128, 128, 64)),
        Product("matmul", dtype, (64, 32, 32, 32)),
    )
]
CASES += [
    Product(kind, dtype, extents)
    for dtype in ("bfp8", "bfp4")
    for extents in ((1, 2048, 16384), (8, 2048, 16384), (128, 768, 3072))
    for kind in ("matmul", "linear")
]
QUICK = [case for case in CASES if case.extents in {(32, 32, 32), (512, 512, 512), (1, 2048, 16384)}]


# The code up to `steps` runs in the contender's process.


def prepare(contender: str, fields: dict[str, Any]) -> float:
    """Makes the timed call; its largest error relative to the largest result, 0 for a read."""
    import torch

    product = Product(**fields | {"extents": tuple(fields["extents"])})
    generator = torch.Generator().manual_seed(0)
    dtype = torch.float32 if product.dtype == "f32" else torch.bfloat16
    *batch, rows, inner, columns = product.extents
    shapes = (*batch, rows, inner), (columns, inner) if product.kind == "linear" else (*batch, inner, columns)
    a, b = (torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    bias = torch.randn(columns, generator=generator).to(dtype)
    if contender == OURS and (product.stays or product.dtype.startswith("bfp")):
        return _prepare_tensors(product, a, b, bias)
    with torch.inference_mode():
        call = _MAKERS[contender](product, a, b, bias)
    result = set_call(call)
    return 0.0 if contender == READ else _error(product, result, a, b, bias)


def _prepare_tensors(product: Product, a: Any, b: Any, bias: Any) -> float:
    """The same for tensors on a device, whose weights may be block floats; the error is for the rounded operands."""
    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0, target="cpu")
    packed = {"bfp8": ttnn.bfloat8_b, "bfp4": ttnn.bfloat4_b}.get(product.dtype)
    x = ttnn.from_torch(a, layout=ttnn.TILE_LAYOUT, device=device)
    weights = ttnn.from_torch(b, dtype=packed, layout=ttnn.TILE_LAYOUT, device=device)
    result = set_call(_ours(product, x, weights, bias))
    return _error(
        product, ttnn.to_torch(result), ttnn.to_torch(x), b if packed is None else ttnn.to_torch(weights), bias
    )


def _ours(product: Product, a: Any, b: Any, bias: Any) -> Callable[[], Any]:
    import ttnn_jit
    from ttnn_jit import ttnn

    transpose_b = product.kind == "linear"
    if product.gelu:
        function = ttnn_jit.jit(
            lambda a, b, bias: ttnn.linear(a, b, bias=bias, transpose_b=transpose_b, activation="gelu")
        )
        return lambda: function(a, b, bias)
    plain = ttnn_jit.jit(lambda a, b: ttnn.matmul(a, b, transpose_b=transpose_b))
    return lambda: plain(a, b)


def _torch(product: Product, a: Any, b: Any, bias: Any) -> Callable[[], Any]:
    import torch
    from torch.nn import functional

    if product.gelu:
        return lambda: functional.gelu(functional.linear(a, b, bias))
    return (lambda: functional.linear(a, b)) if product.kind == "linear" else (lambda: torch.matmul(a, b))


def _packed(product: Product, a: Any, b: Any, bias: Any) -> Callable[[], Any]:
    import torch

    weights = b if product.kind == "linear" else b.T.contiguous()
    reordered = torch.ops.mkldnn._reorder_linear_weight(weights, a.shape[0])
    linear = torch.ops.mkldnn._linear_pointwise
    if product.gelu:
        return lambda: linear(a, reordered, bias, "gelu", [], "none")
    return lambda: linear(a, reordered, None, "none", [], "")


def _read(product: Product, a: Any, b: Any, bias: Any) -> Callable[[], Any]:  # noqa: ARG001 - as the others
    import torch

    words = b.view(torch.float32)
    return words.sum


_MAKERS = {OURS: _ours, TORCH: _torch, PACKED: _packed, READ: _read}
_CHECKED = 32  # columns


def _error(product: Product, result: Any, a: Any, b: Any, bias: Any) -> float:
    import torch

    right = (b[:_CHECKED].T if product.kind == "linear" else b[..., :_CHECKED]).double()
    golden = a.double() @ right
    if product.gelu:
        golden = torch.nn.functional.gelu(golden + bias[:_CHECKED].double())
    return float((result[..., :_CHECKED].double() - golden).abs().max() / golden.abs().max())


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per product."""
    rounds, threads = 3 if quick else 5, thread_counts()[0]
    with turns() as running:
        yield [
            Step(
                case.name,
                1.7 * SECONDS * rounds * len(case.contenders),
                lambda case=case: running.measured(case.contenders, prepare, asdict(case), rounds, threads),
            )
            for case in (QUICK if quick else CASES)
        ]


def report(results: Mapping[str, Any], plots: Plots) -> str:  # noqa: ARG001 - a table says it all
    """Two tables: products bound by arithmetic, and those of few rows, bound by reading their right operand."""
    many = [case for case in CASES if case.name in results and READ not in case.contenders]
    few = [case for case in CASES if case.name in results and READ in case.contenders]
    return f"{_table(results, many, _gflops, 'GFLOP/s')}\n{_table(results, few, _weights, 'GB/s of the right operand')}"


def summary(results: Mapping[str, Any]) -> list[list[str]]:
    """Rows of the summary: per kind, products of few rows and others."""
    return geometric_rows(
        (_group(case), case.dtype, results[case.name], [peer for peer in (TORCH, PACKED) if peer in case.contenders])
        for case in CASES
        if case.name in results
    )


def _group(case: Product) -> str:
    rows = f", at most {FEW_ROWS} rows" if READ in case.contenders else ""
    return f"{case.kind}{' + gelu' * case.gelu}{', weights that stay' * case.stays}{rows}"


def _gflops(case: Product, seconds: float) -> float:
    return case.operations / seconds / 1e9


def _weights(case: Product, seconds: float) -> float:
    return math.prod(case.extents[-2:]) * (4 if case.dtype == "f32" else 2) / seconds / 1e9


def _table(
    results: Mapping[str, Any], cases: Sequence[Product], rate: Callable[[Product, float], float], unit: str
) -> str:
    peers = [name for name in (TORCH, PACKED, READ) if any(name in case.contenders for case in cases)]
    rows = [["product", "us", *(f"{name}, {unit}" for name in (OURS, *peers)), *(f"{p}, least" for p in peers), *peers]]
    for case in cases:
        found = results[case.name]
        cells = [f"{least(found, OURS) * 1e6:,.1f}"]
        cells += [f"{rate(case, least(found, name)):,.0f}" if name in found else "-" for name in (OURS, *peers)]
        cells += [f"{ratio(found, [name]):.2f}" if name in found else "-" for name in peers]
        cells += [ratio_of_medians(found, [name]) if name in found else "-" for name in peers]
        rows.append([case.name, *cells])
    return table(rows)


BENCHMARK = Benchmark("matmul", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
