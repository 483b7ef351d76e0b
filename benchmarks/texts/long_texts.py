"""How long texts of many ops take to compile: ``python -m benchmarks.texts.long_texts``.

Prints the seconds of the compiling thread for texts of 1,250 to 10,000 ops of TTIR, and of the TTNN that a pipeline
makes of them: to parse one, to lower it, and to compile that without LLVM, which runs in other threads; and how long it
waited for LLVM. The programs on disk are not used. Then the seconds of each pass over texts of the same lengths.
"""

from __future__ import annotations

import random
import time
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.codegen.images.kernel_images import KernelImages
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms.pipeline import run_passes
from ttnn_jit.transforms.texts.registry import text_passes

COUNTS = (1_250, 2_500, 5_000, 10_000)
PASSES = (
    "canonicalize",
    "cse",
    "ttir-fusing",
    "ttir-erase-inverse-ops",
    "ttir-implicit-broadcast-fold",
    "ttir-to-ttir-decomposition",
    "const-eval-hoist-transform",
    "ttir-to-ttnn-backend-pipeline",
    "ttcore-register-device ttnn-layout ttir-allocate",
)
"""Passes over texts of TTIR; several on one line follow each other."""
_TYPE = "tensor<32x32xf32>"
_UNARY = ("exp", "tanh", "sigmoid", "abs", "relu")
_BINARY = ("add", "multiply", "subtract", "maximum")


def long_text(count: int, *, chain: bool) -> str:
    """A function of `count` ops: each reads the one before, or ops among the last twenty; some of these permute."""
    draw = random.Random(0)
    values, lines = ["%x", "%y"], []
    for index in range(count):
        first, second = values[-1] if chain else draw.choice(values[-20:]), draw.choice(values[-20:])
        kind = draw.random()
        if kind < 0.5:
            op, operands, given = draw.choice(_UNARY), [first], ""
        elif chain or kind < 0.75:
            op, operands, given = draw.choice(_BINARY), [first, second], ""
        else:
            op, operands, given = "permute", [first], " <{permutation = array<i64: 1, 0>}>"
        types = ", ".join([_TYPE] * len(operands))
        lines.append(f'  %v{index} = "ttir.{op}"({", ".join(operands)}){given} : ({types}) -> {_TYPE}')
        values.append(f"%v{index}")
    body = "\n".join(lines)
    return f"func.func @f(%x: {_TYPE}, %y: {_TYPE}) -> {_TYPE} {{\n{body}\n  return {values[-1]} : {_TYPE}\n}}\n"


class _Waiting:
    """Measures how long a compile waits for LLVM."""

    def __init__(self) -> None:
        self.own, self.waited = 0.0, 0.0
        finished = KernelImages.finished

        def timed(images: KernelImages) -> Any:
            own, waited = time.thread_time(), time.perf_counter()
            try:
                return finished(images)
            finally:
                self.own += time.thread_time() - own
                self.waited += time.perf_counter() - waited

        KernelImages.finished = timed  # type: ignore[method-assign]


def main() -> None:
    """Prints a line for each text, and for each pass."""
    waiting = _Waiting()
    for chain in (False, True):
        for count in COUNTS:
            _compile(f"{'chain' if chain else 'graph'} of TTIR", count, long_text(count, chain=chain), waiting)
    for count in COUNTS:
        module = parse_upstream(long_text(count, chain=False))
        _run("ttir-to-ttnn-backend-pipeline", module)
        _compile("graph of TTNN", count, op_text(module), waiting)
    for passes in PASSES:
        seconds = [_run(passes, parse_upstream(long_text(count, chain=False))) for count in COUNTS]
        print(f"{passes}: " + ", ".join(f"{each:.2f} s" for each in seconds))


def _compile(name: str, count: int, text: str, waiting: _Waiting) -> None:
    waiting.own, waiting.waited = 0.0, 0.0
    marks = [time.thread_time()]
    (module,) = parse_texts(text, "long.mlir")
    marks.append(time.thread_time())
    program = TextModule(module, PRESETS["cpu"]).program("f")
    marks.append(time.thread_time())
    _ = program.program
    marks.append(time.thread_time() - waiting.own)
    parsed, lowered, compiled = (after - before for before, after in pairwise(marks))
    print(
        f"{name}, {count:>6,} ops: parsed in {parsed:.2f} s, lowered in {lowered:.2f} s, "
        f"compiled in {compiled:.2f} s, and waited {waiting.waited:.2f} s for LLVM"
    )


def _run(passes: str, module: ModuleOp) -> float:
    """The seconds that passes over a text take."""
    chosen = [each for name in passes.split() for each in text_passes(name, "")]
    begin = time.thread_time()
    run_passes(module, chosen)
    return time.thread_time() - begin


if __name__ == "__main__":
    main()
