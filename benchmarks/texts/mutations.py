"""Mutated texts through the commands: ``python -m benchmarks.texts.mutations TREE --count 5000 [--passes]``.

Modules of every dialect in the tree are changed at random: characters, numbers, names, lines, a cut. Each is parsed,
verified, compiled and executed in this process, as ``ttnn-jit run`` does; with `--passes` it goes through one of the
pipelines of ``opt``, or through ``translate``, ``compare`` with the text before the change, or ``bisect``. What may
come of one is a result, or one line on stderr, and status 1, and then no file is written. Everything else is printed:
another exception, another message, and what takes longer than a second without the time that LLVM takes. The tensors
that programs read and write end at inaccessible pages, so that an access beyond one ends the process, which `--seed`
and `--first` repeat.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from benchmarks.texts.bounds import TooSlowError
from benchmarks.texts.text_yardsticks import modules_of
from tests.guarded import Guarded
from ttnn_jit.codegen.images.kernel_images import KernelImages
from ttnn_jit.compiler.texts import text_programs
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.tools import run as run_command
from ttnn_jit.tools.cli import main as ttnn_jit_main
from ttnn_jit.tools.texts import run_text
from ttnn_jit.tools.texts.inputs import require_memory

LONGEST = 12_000
"""Characters of a text: larger ones take longer to parse than a mutation is worth."""
LARGEST = 1 << 21
"""Elements of the tensors of a program that is run: numbers make larger ones take their time."""
SECONDS = 1.0
"""Of the thread that compiles; LLVM runs in others."""
HANG_SECONDS = 30
"""Of the process; ten times as many of the clock."""

_WORD = re.compile(r"[A-Za-z_][\w.]*")
_NUMBER = re.compile(r"\d+")
_DIALECT = re.compile(r"\b([a-z_0-9]+)\.[a-z_]\w*")
_NUMBERS = (0, 1, 2, 3, 7, 31, 32, 33, 64, 1 << 16, 1 << 31, 1 << 40, 1 << 63, 10**30)
_SNIPPETS = (
    "<<",
    "((",
    "dense<",
    "%x",
    "#y",
    "loc(",
    "tensor<",
    "-",
    "{",
    "->",
    "é",
    '"',
    "\\",
    "//",
    "?",
    "-1",
    "nan",
)


REASONS: Counter[str] = Counter()
"""Why texts are refused, without names and numbers."""


def texts_of(tree: Path) -> dict[str, list[str]]:
    """The texts of a tree by the dialect that most of their ops are of."""
    found: dict[str, list[str]] = {}
    for file in sorted(tree.rglob("*.mlir")):
        for _, text in modules_of(file):
            if len(text) < LONGEST:
                names = Counter(_DIALECT.findall(re.sub(r"//.*", "", text)))
                names.pop("func", None)
                if names:
                    found.setdefault(names.most_common(1)[0][0], []).append(text)
    return found


def mutated(text: str, draw: random.Random) -> str:
    """A text with one to three changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        text = draw.choice(_MUTATIONS)(text, draw) or " "
    return text


def _cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text))]


def _character(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text))
    return text[:at] + draw.choice('<>(){}[]"%#!@^:,=-0123456789abcx. \n/\\') + text[at + draw.randrange(2) :]


def _snippet(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(_SNIPPETS) + text[at:]


def _number(text: str, draw: random.Random) -> str:
    matches = [*_NUMBER.finditer(text)]
    if not matches:
        return text
    chosen = draw.choice(matches)
    old = int(chosen[0])
    new = str(draw.choice((old + 1, max(0, old - 1), 2 * old, old // 2, *_NUMBERS)))
    if draw.random() < 0.5:
        return re.sub(rf"(?<!\d){re.escape(chosen[0])}(?!\d)", new, text)
    return text[: chosen.start()] + new + text[chosen.end() :]


def _word(text: str, draw: random.Random) -> str:
    matches = [*_WORD.finditer(text)]
    if len(matches) < 2:
        return text
    chosen, other = draw.sample(matches, 2)
    return text[: chosen.start()] + other[0] + text[chosen.end() :]


def _line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


_MUTATIONS = (_cut, _character, _snippet, *(_number,) * 6, *(_word,) * 3, _line)


class GuardedTensors:
    """Tensors of torch whose memory ends, or begins, at an inaccessible page."""

    def __init__(self) -> None:
        self._start = False

    def copy(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor."""
        if not tensor.is_contiguous() or tensor.numel() == 0:
            return tensor
        self._start = not self._start
        nbytes = tensor.numel() * tensor.element_size()
        guarded = Guarded(nbytes, start=self._start)
        memory = (ctypes.c_char * nbytes).from_address(guarded.address)
        found = torch.frombuffer(memory, dtype=tensor.dtype).reshape(tensor.shape)
        found.copy_(tensor)
        found._guarded = guarded  # type: ignore[attr-defined]  # lives as long as the tensor
        return found


@contextlib.contextmanager
def observed() -> Iterator[list[float]]:
    """Guards the inputs of programs, and counts the seconds that LLVM takes."""
    seconds = [0.0]
    guarded = GuardedTensors()
    run = text_programs.run_on_torch
    finished = KernelImages.finished

    def require_few(specs: Sequence[TensorSpec], _: Any = None) -> None:
        if sum(spec.volume for spec in specs) > LARGEST:
            raise ArgumentError("a program of large tensors is compiled, and not run")

    def run_guarded(program: Any, tensors: list[torch.Tensor], **keywords: Any) -> Any:
        require_few((*program.plan.inputs, *program.plan.outputs, *program.plan.intermediates))
        return run(program, [guarded.copy(each) for each in tensors], **keywords)

    def timed(*arguments: Any, **keywords: Any) -> Any:
        begin = time.thread_time()
        try:
            return finished(*arguments, **keywords)
        finally:
            seconds[0] += time.thread_time() - begin

    text_programs.run_on_torch = run_guarded
    run_text.require_memory = run_command.require_memory = require_few
    KernelImages.finished = timed  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        text_programs.run_on_torch = run
        run_text.require_memory = run_command.require_memory = require_memory
        KernelImages.finished = finished  # type: ignore[method-assign]


_FILE, _ORIGINAL, _WRITTEN = "FILE", "ORIGINAL", "WRITTEN"
"""Of a command line: the mutated text, the text before, and what the command writes."""
RUN = ("run", _FILE)
PASSES = (
    *(
        ("opt", *passes.split(), _FILE, "-o", _WRITTEN)
        for passes in (
            "--canonicalize --cse",
            "--ttir-to-ttnn-backend-pipeline",
            "--ttir-to-ttmetal-pipeline",
            "--ttir-to-emitpy-pipeline",
            "--ttir-fusing --ttir-erase-inverse-ops --ttir-implicit-broadcast-fold --ttir-to-ttir-decomposition",
            "--ttir-element-type-normalization --const-eval-hoist-transform",
            "--ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn",
            "--ttnn-common-to-runtime-pipeline",
            "--convert-ttnn-to-ttir --ttir-allocate",
            "--stablehlo-to-ttir-pipeline",
            "--stablehlo-pipeline",
            "--convert-tosa-to-ttir",
        )
    ),
    ("translate", "--mlir-to-python", _FILE, "-o", _WRITTEN),
    ("translate", "--ttnn-to-flatbuffer", _FILE, "-o", _WRITTEN),
    ("compare", _FILE, _ORIGINAL),
    ("bisect", _FILE, "-o", _WRITTEN),
)


def outcome_of(
    command: Sequence[str], text: str, original: str, folder: Path, llvm_seconds: list[float]
) -> tuple[str, str]:
    """What became of a text, and why that is wrong; "" if it is not."""
    files = {each: folder / f"{each.lower()}.mlir" for each in (_FILE, _ORIGINAL, _WRITTEN)}
    files[_FILE].write_text(text, encoding="utf-8")
    files[_ORIGINAL].write_text(original, encoding="utf-8")
    files[_WRITTEN].unlink(missing_ok=True)
    out, said = io.StringIO(), io.StringIO()
    llvm_seconds[0] = 0.0
    begin = time.thread_time()
    signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
    signal.alarm(10 * HANG_SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            status = ttnn_jit_main([str(files.get(each, each)) for each in command])
    except TooSlowError:
        return "hang", f"more than {HANG_SECONDS} s"
    except BaseException as error:  # noqa: BLE001 - any exception that leaves the command is a finding
        import traceback

        return "exception", "".join(traceback.format_exception(error))[-1500:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    own = time.thread_time() - begin - llvm_seconds[0]
    if own > SECONDS:
        return "slow", f"{own:.1f} s besides LLVM's"
    if status == 1 and files[_WRITTEN].exists() and command[0] != "bisect":
        return "half-written", f"{command}: a file is there, and status {status}"
    return ("runs", "") if status == 0 else _refusal(status, said.getvalue())


_ERROR = re.compile(r"error: |\S+: error: ")
_BESIDE = (": remark: ", " equal to its golden")
"""Of lines that are no errors."""


def _refusal(status: int, said: str) -> tuple[str, str]:
    lines = [line for line in said.splitlines() if line and not any(each in line for each in _BESIDE)]
    if status != 1 or not lines or not _ERROR.match(lines[0]):
        return "message", said[:600]
    if "nternal error" in said:
        return "internal", said[:600]
    REASONS[re.sub(r"^.*?\d+:\d+: |[\d,]+|'[^']*'|`[^`]*`", "_", lines[0])[:90]] += 1
    return "refused", ""


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError("too slow")


def main() -> None:
    """Prints what is wrong, and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutation")
    parser.add_argument("--passes", action="store_true", help="pipelines and other commands in place of `run`")
    parser.add_argument("--show", type=int, default=20, help="how many reasons of refusal to print")
    parser.add_argument("--keep", type=Path, help="a folder for the texts of findings")
    options = parser.parse_args()
    for each in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(each, _interrupt)
    texts = texts_of(options.tree)
    dialects = sorted(texts)
    counts: Counter[tuple[str, str]] = Counter()
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, observed() as seconds:
        for number in range(options.first, options.first + options.count):
            draw = random.Random(f"{options.seed} {number}")
            dialect = dialects[number % len(dialects)]
            original = draw.choice(texts[dialect])
            text = mutated(original, draw)
            command = draw.choice(PASSES) if options.passes else RUN
            if options.keep:
                options.keep.mkdir(exist_ok=True)
                (options.keep / "last.mlir").write_text(text)
            outcome, reason = outcome_of(command, text, original, Path(folder), seconds)
            counts[dialect, outcome] += 1
            if reason:
                wrong[f"{outcome}: {reason.strip().splitlines()[-1][:150]}"] += 1
                print(f"{number} {dialect} {' '.join(command)} {outcome}: {reason}", flush=True)
                if options.keep:
                    (options.keep / f"{number}.mlir").write_text(text)
    for dialect in dialects:
        print(
            f"{dialect}: " + ", ".join(f"{count} {kind}" for (each, kind), count in counts.items() if each == dialect)
        )
    for reason, count in REASONS.most_common(options.show):
        print(f"{count:>5}  refused: {reason}")
    for reason, count in wrong.most_common():
        print(f"{count:>5}  {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
