"""Runs random programs with templates and without, and compares every call bit for bit."""

# ruff: noqa: T201 - a command

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.properties.extents.user_programs import HEADER, Program, program_of
from ttnn_jit import jit, ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import TtnnJitError

LIBRARIES = ("torch", "numpy", "ttnn")


@dataclass
class Outcome:
    """What the calls of a program did.

    Attributes:
        new_sizes: The number of calls, after the first, of a size that was not called before.
        served: Those of them that compiled nothing.
        refused: Those that raised an error, the same with templates and without.
        difference: The first difference; None if there is none.
    """

    new_sizes: int = 0
    served: int = 0
    refused: int = 0
    difference: str | None = None


def loaded(program: Program, folder: Path, name: str = "program") -> Any:
    """The function of a program, whose module is written to `folder`."""
    path = folder / f"{name}.py"
    path.write_text(program.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def run(program: Program, folder: Path, library: str = "torch", **options: Any) -> Outcome:
    """The outcome of a program's calls; `options` are those of the decorator."""
    function = loaded(program, folder)
    generic, exact = jit(**options)(function), jit(**{**options, "dynamic": False})(function)
    outcome, seen = Outcome(), set()
    device = ttnn.open_device(device_id=0, target="cpu") if library == "ttnn" else None
    for size in program.sizes:
        given = [*(_in_library(tensor, library, device) for tensor in _tensors(program.second, *size[:2])), size[2]]
        if program.is_hidden:
            function.__globals__["Y"] = given.pop(1)
        before = COUNTERS.compiles
        result = _result(generic, given)
        compiled = COUNTERS.compiles - before
        is_new = bool(seen) and size not in seen
        seen.add(size)
        outcome.new_sizes += is_new
        outcome.served += is_new and not compiled and not isinstance(result, str)
        outcome.refused += is_new and isinstance(result, str)
        for again in (result, _result(generic, given), _result(generic, given)):
            wanted = _result(exact, given)
            if not _are_equal(again, wanted):
                outcome.difference = f"{size}: {_shown(again)} is not {_shown(wanted)}"
                return outcome
    return outcome


def _tensors(second: str, rows: int, columns: int) -> Iterator[torch.Tensor]:
    generator = torch.Generator().manual_seed(rows * 1000 + columns)
    shapes = {
        "same": (rows, columns), "row": (1, columns), "column": (rows, 1), "transposed": (columns, rows // 2 + 1),
        "half": (rows // 2, columns), "mostly": (rows + (rows % 5 == 0), columns),
    }  # fmt: skip
    yield torch.randn(rows, columns, generator=generator)
    if second != "none":
        yield torch.randn(shapes[second], generator=generator)


def _in_library(tensor: torch.Tensor, library: str, device: Any) -> Any:
    if library == "ttnn":
        return ttnn.from_torch(tensor, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    return tensor.numpy() if library == "numpy" else tensor


def _result(function: Any, given: list[Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*given)
    except TtnnJitError as error:
        return f"{type(error).__name__}: {error}"
    return ttnn.to_torch(result) if isinstance(result, ttnn.Tensor) else torch.as_tensor(result)


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and one == other
    return bool(one.shape == other.shape and one.dtype == other.dtype and torch.equal(_bits(one), _bits(other)))


def _bits(result: torch.Tensor) -> torch.Tensor:
    return result.flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8)


def _shown(result: Any) -> str:
    return result if isinstance(result, str) else f"{list(result.shape)} {result.flatten()[:4].tolist()}"


def main() -> None:
    """``python -m tests.properties.extents.sizes_attack``: many programs, with counts and every difference."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--library", choices=LIBRARIES, default="torch")
    parser.add_argument("--trace", action="store_true", help="with graph_capture=True")
    options, total = parser.parse_args(), Outcome()
    for seed in range(options.seed, options.seed + options.programs):
        with tempfile.TemporaryDirectory() as folder:
            program = program_of(seed, options.library)
            outcome = run(program, Path(folder), options.library, graph_capture=options.trace or None)
        for name in ("new_sizes", "served", "refused"):
            setattr(total, name, getattr(total, name) + getattr(outcome, name))
        if outcome.difference:
            print(f"seed {seed}: {outcome.difference}\n{program.text.removeprefix(HEADER)}", flush=True)
    print(f"{options.programs} programs: {total}")


if __name__ == "__main__":
    main()
