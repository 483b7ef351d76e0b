"""The accuracy of whole models against torch: of each operation, after each layer, and of the result.

It runs the programs of docs/examples/models with random weights, eagerly, in comparison mode. The golden of each
operation in float64 takes the operation's own operands (*alone*) or the results of earlier goldens (*in the chain*). A
layer ends with the last run of the line that runs most often.
`python -m benchmarks.accuracy.models --write docs/models.md` writes the page.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.harness import table
from benchmarks.harness.process import Process
from benchmarks.programs.model_programs import module_of, names

TARGETS = ("cpu", "wormhole_b0")
SMALL_ONLY = ("llama",)
"""Models that would take more than ten minutes in full size; they are measured in their small configuration."""


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of one model on one target.

    Attributes:
        operations: The number of compared tensors.
        alone: The lowest correlation of an operation, and its name.
        alone_ulp: The largest error of an operation in units in the last place, and its name.
        layers: The correlation after each layer, in the chain.
        end: The correlation of the result with torch's own module in float32.
        end_ulp: The largest error of the result, in units of bfloat16's last place at the largest element.
    """

    operations: int
    alone: tuple[float, str]
    alone_ulp: tuple[float, str]
    layers: tuple[float, ...]
    end: float
    end_ulp: float


def measured(name: str, target: str, full: bool) -> dict[str, Any]:
    """The fields of an `Accuracy`, in its own process."""
    import torch

    from ttnn_jit import ttnn
    from ttnn_jit.testing import comparison_records

    warnings.simplefilter("ignore")
    module = module_of(name)
    torch.manual_seed(0)
    device = ttnn.open_device(device_id=0, target=target)
    run, reference = module.build(module.FULL if full else module.SMALL, device)
    with torch.no_grad():
        wanted = reference().float()
    with ttnn.manage_config("enable_comparison_mode", True), ttnn.manage_config("comparison_mode_pcc", 0.0):
        got = ttnn.to_torch(run()).float()
    compared = [each for each in comparison_records() if each.pcc is not None]
    alone = [each for each in compared if each.mode == "isolated"]
    largest = float(wanted.abs().max())
    found = Accuracy(
        operations=len(alone),
        alone=min((each.pcc, each.operation) for each in alone),
        alone_ulp=max((each.max_ulp, each.operation) for each in alone if each.max_ulp is not None),
        layers=tuple(_behind_layers([each for each in compared if each.mode == "accumulated"])),
        end=float(ttnn.pearson_correlation_coefficient(wanted, got)),
        end_ulp=float((got - wanted).abs().max()) / 2.0 ** (math.frexp(largest)[1] - 8),
    )
    return asdict(found)


def _behind_layers(records: Sequence[Any]) -> list[float]:
    """The correlations after each run of the line that runs last among the most frequent lines."""
    runs = Counter(each.location for each in records)
    most = max(runs.values())
    (line,) = [each.location for each in records if runs[each.location] == most][-1:]
    return [each.pcc for each in records if each.location == line]


def page(found: dict[tuple[str, str], Accuracy], small: Collection[str]) -> str:
    """docs/models.md; `small` are the models in their small configuration."""
    rows = [
        [
            "model", "target", "operations", "least correlation of one", "most ulp of one",
            "layers", "behind the first", "least", "behind the last", "at the end", "ulp of the largest",
        ]
    ]  # fmt: skip
    rows += [
        [
            f"{name} (small)" if name in small else name,
            target,
            str(each.operations),
            f"{_short(each.alone[0])} {_bare(each.alone[1])}",
            f"{each.alone_ulp[0]:.3g} {_bare(each.alone_ulp[1])}",
            str(len(each.layers)),
            *(_short(pcc) for pcc in (each.layers[0], min(each.layers), each.layers[-1], each.end)),
            f"{each.end_ulp:.1f}",
        ]
        for (name, target), each in found.items()
    ]
    return f"{_HEAD}\n{table(rows)}"


_HEAD = """# How near whole models come to torch

The programs of [examples/models](examples/models), with random weights, in their full size or a small one as it says,
eagerly in comparison mode (docs/from_ttnn.md). *One* operation is beside its golden in float64, from the same operands.
Behind a layer, and at the end, errors of all operations before have added up: layers are beside a chain of goldens, the
end is beside torch's own module in float32. Units in the last place (ulp) are those of the result's type; at the end
those of bfloat16 at the largest element. Where sums cancel, one operation is many units of a small result off.
`python -m benchmarks.accuracy.models --write docs/models.md` writes this page.
"""


def _short(pcc: float) -> str:
    return "1" if pcc == 1 else f"{pcc:.6f}"


def _bare(operation: str) -> str:
    return f"(`{operation.removeprefix('ttnn.')}`)"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=names())
    parser.add_argument("--write", type=Path)
    parser.add_argument("--small", action="store_true", help="small configurations alone")
    given = parser.parse_args()
    small = given.models if given.small else SMALL_ONLY
    found = {}
    for name in given.models:
        for target in TARGETS:
            with Process({}) as process:
                found[name, target] = Accuracy(**process.call(measured, name, target, name not in small))
            print(name, target, found[name, target], flush=True)
            if given.write:
                given.write.write_text(page(found, small), encoding="utf-8")


if __name__ == "__main__":
    main()
