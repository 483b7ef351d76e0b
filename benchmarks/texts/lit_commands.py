"""Runs the ``RUN:`` lines of a lit test: tools of tt-mlir in this process, other programs as they are."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.texts.bounds import TOO_LARGE, TOO_SLOW, TooSlowError, bounded_time, is_too_large
from ttnn_jit.tools.cli import main as ttnn_jit_main
from ttnn_jit.tools.cli import opt_main

PROGRAM_SECONDS = 120
"""How long another program may take; it is no part of this process, whose CPU time is bounded."""

PROGRAMS = frozenset({"rm", "mkdir", "cat", "diff", "grep", "[", "true", "llvm-nm", "wc", "count", "test", "echo"})
"""What tests start beside tools of tt-mlir."""

INTERNAL = "error: internal error: "
"""How a tool says that it crashed."""

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(?P<command>.*?)(?P<continued>\\)?\s*$", re.MULTILINE)
_CONDITION = re.compile(r"%if\s+(?P<feature>\S+)\s+%\{(?P<then>.*?)%\}(?:\s*%else\s*%\{(?P<otherwise>.*?)%\})?")
_OPERATORS = {"|", "&&", ";", "||"}


@dataclass(frozen=True)
class Outcome:
    """What became of one test.

    Attributes:
        checks: The number of its FileChecks.
        ran: Whether each command ended as the test says, FileChecks apart.
        failure: Why it does not run, or no FileCheck holds; "" if all is well.
        binaries: The flatbuffers that it wrote.
    """

    checks: int
    ran: bool
    failure: str
    binaries: tuple[Path, ...] = ()


def commands_of(text: str) -> list[str]:
    """The commands of a test, with lines that end with a backslash joined."""
    found, open_ = [], ""
    for match in _RUN.finditer(text):
        open_ += match["command"] + " "
        if not match["continued"]:
            found.append(open_.strip())
            open_ = ""
    return found


def skip_reason(text: str) -> str:
    """Why lit skips this test in a plain build without a card; "" if it does not."""
    for keyword, features in re.findall(r"^\W*(REQUIRES|UNSUPPORTED):\s*(.*?)\s*$", text, re.MULTILINE):
        names = {each.strip() for each in features.split(",")}
        if keyword == "UNSUPPORTED" and names & {"true", "*"}:
            return "UNSUPPORTED: true"
        if keyword == "REQUIRES" and (absent := names - {"stablehlo", "n150", "pykernel"}):
            return f"REQUIRES: {min(absent)}"
    return ""


def run_bounded(file: Path, folder: Path, seconds: int) -> Outcome:
    """As `run_test`; a test over a bound does not run, and its failure is one of `OVER_BOUNDS`."""
    try:
        with bounded_time(seconds):
            return run_test(file, folder)
    except TooSlowError:
        return _over_bound(file, TOO_SLOW)
    except MemoryError:
        return _over_bound(file, TOO_LARGE)


def _over_bound(file: Path, failure: str) -> Outcome:
    commands = commands_of(file.read_text(encoding="utf-8", errors="replace"))
    return Outcome(" ".join(commands).count("FileCheck"), ran=False, failure=failure)


def run_test(file: Path, folder: Path) -> Outcome:
    """Runs the commands of a test; its outputs go to `folder`."""
    commands = commands_of(file.read_text(encoding="utf-8", errors="replace"))
    checks, failure = " ".join(commands).count("FileCheck"), ""
    for command in commands:
        with contextlib.chdir(folder):
            problem, refused = _run_line(substituted(command, file.resolve(), folder))
        if problem:
            return Outcome(checks, ran=False, failure=problem)
        failure = failure or refused
    binaries = tuple(sorted(each for each in folder.iterdir() if each.is_file() and _is_binary(each)))
    return Outcome(checks, ran=True, failure=failure, binaries=binaries)


def _is_binary(file: Path) -> bool:
    """Whether a file is a size-prefixed flatbuffer of tt-mlir."""
    with file.open("rb") as stream:
        return stream.read(12)[8:12] in {b"TTNN", b"TTM0", b"TTMX", b"TTM "}


def execute_binary(file: Path, seconds: int) -> str:
    """Why `ttnn-jit run` does not execute a binary on random inputs in so much CPU time; "" if it does."""
    try:
        with bounded_time(seconds):
            status, _, said = _captured(lambda: ttnn_jit_main(["run", str(file)]), b"")
    except TooSlowError:
        return TOO_SLOW
    if status and is_too_large(said):
        return TOO_LARGE
    line = next((each for each in said.splitlines() if each.strip()), f"status {status}")
    return "" if status == 0 else _reason(line, ["execute"])


def substituted(command: str, file: Path, folder: Path) -> str:
    """A command with lit's substitutions; features other than ``stablehlo`` are absent."""
    command = _CONDITION.sub(
        lambda each: (each["then"] if each["feature"] == "stablehlo" else each["otherwise"]) or "true", command
    )
    tree = next((each for each in file.parents if each.name == "test"), file.parent)
    for name, value in {
        "%system_desc_path%": os.environ.get("SYSTEM_DESC_PATH", ""),
        "%ttmlir_test_root": str(tree),
        "%models": str(tree / "ttmlir" / "models"),
        "%python": sys.executable,
        "%basename_t": f"{file.name}.tmp",
        "%s": str(file),
        "%t": str(folder / f"{file.name}.tmp"),
        "%T": str(folder),
        "%S": str(file.parent),
        "%p": str(file.parent),
    }.items():
        command = re.sub(rf"{re.escape(name)}(?![A-Za-z%])", lambda _, value=value: value, command)
    return command


def _run_line(line: str) -> tuple[str, str]:
    """Why a line fails, and what its FileChecks say; "" for both if all is well."""
    if "$(" in line:
        return _said_by(["bash", "-c", line], "")[2], ""
    refused, output = "", b""
    operator = ";"
    for operator, words in _stages(line):
        given = output if operator == "|" else b""
        if words[:1] == ["FileCheck"]:
            refused = refused or _check(words[1:], given)
            output = b""
            continue
        output, problem = _run(words, given)
        if problem:
            return problem, refused
    return "", refused


def _stages(line: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a line, each with the operator before it."""
    lexer = shlex.shlex(
        line.replace("2>&1", " @merged ").replace("2>", " @errors "), posix=True, punctuation_chars="|&;<>"
    )
    lexer.whitespace_split = True
    operator, words = ";", []
    for token in lexer:
        if token in _OPERATORS:
            yield operator, words
            operator, words = token, []
        else:
            words.append(token)
    if words:
        yield operator, words


def _run(words: Sequence[str], stdin: bytes) -> tuple[bytes, str]:
    """The output, and why this is not what the test says; "" if it is."""
    refused = words[:1] == ["not"]
    words = list(words[1:] if refused else words)
    merged = "@merged" in words
    target = errors = None
    words = [word for word in words if word != "@merged"]
    if "@errors" in words:
        at = words.index("@errors")
        errors = Path(words[at + 1])
        del words[at : at + 2]
    for sign in (">", ">>"):
        if sign in words:
            at = words.index(sign)
            target = (Path(words[at + 1]), "ab" if sign == ">>" else "wb")
            del words[at : at + 2]
    if "<" in words:
        at = words.index("<")
        stdin = Path(words[at + 1]).read_bytes()
        del words[at : at + 2]
    if not words:
        return b"", ""
    status, out, said = _said_by(words, stdin)
    output = out + said.encode() if merged else out
    if errors is not None:
        errors.write_text(said, encoding="utf-8")
    if target is not None:
        with target[0].open(target[1]) as stream:
            stream.write(output)
        output = b""
    return output, _problem(words, status, said, refused=refused)


def _problem(words: Sequence[str], status: int, said: str, *, refused: bool) -> str:
    """Why the end of a command is not what the test says; "" if it is."""
    wrong = (status == 0) if refused else (status != 0)
    if status and words[0] in _TOOLS and is_too_large(said):
        return TOO_LARGE
    # Status 2 is a wrong command line, 3 a crash: neither is the error that a test under `not` expects.
    if not wrong and not (status in {2, 3} and words[0] in _TOOLS):
        return ""
    if status == 0:
        return f"accepted, and the test expects an error [{words[0]}]"
    lines = [each for each in said.splitlines() if each.strip()] or [f"status {status}"]
    return _reason(next((each for each in lines if "error" in each.lower()), lines[0]), words)


def _said_by(words: Sequence[str], stdin: bytes | str) -> tuple[int, bytes, str]:
    """Status, output and errors of a command."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    if tool := _TOOLS.get(words[0]):
        return _captured(lambda: tool(list(words[1:])), given)
    if words[0] not in PROGRAMS | {"bash", sys.executable}:
        return 3, b"", f"no command `{words[0]}` here"
    if shutil.which(words[0]) is None:
        return 3, b"", f"no program `{words[0]}` on this machine"
    done = _program(words, given)
    said = done.stderr.decode(errors="replace")
    return done.returncode, done.stdout, said or (f"{words[0]}: status {done.returncode}" if done.returncode else "")


def _program(words: Sequence[str], stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    """Another program than those of tt-mlir, ended.

    Raises:
        TooSlowError: It takes more than `PROGRAM_SECONDS`.
    """
    try:
        return subprocess.run(list(words), input=stdin, capture_output=True, timeout=PROGRAM_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise TooSlowError(TOO_SLOW) from error


_TOOLS: dict[str, Callable[[list[str]], int]] = {
    "ttmlir-opt": opt_main,
    "ttmlir-translate": lambda arguments: ttnn_jit_main(["translate", *arguments]),
    "ttrt": lambda arguments: ttnn_jit_main(["ttrt", *arguments]),
}


def _reason(line: str, words: Sequence[str]) -> str:
    """The error without its place."""
    passes = " ".join(each.partition("=")[0] for each in words[1:] if each.startswith("-"))[:60]
    return f"{re.sub(r'^(error: )?[^ ]*[.](mlir|tmp)[^ ]*', '', line).strip()} [{words[0]} {passes}]"


def _captured(command: Callable[[], int], stdin: bytes) -> tuple[int, bytes, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = command()
        status = 3 if INTERNAL in err.getvalue() else status
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    except Exception as error:  # noqa: BLE001 - a crash is counted, not hidden
        status, err = 3, io.StringIO(f"crash: {type(error).__name__}: {error}")
    finally:
        sys.stdin = before
    return status, out.buffer.getvalue(), err.getvalue()  # type: ignore[attr-defined]


def _check(arguments: Sequence[str], stdin: bytes) -> str:
    """What FileCheck says; "" if it accepts."""
    done = _program([file_check(), *arguments], stdin)
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace")
    found = re.search(r"error: .*\n(.*)", said)
    return f"FileCheck: {found[1].strip() if found else said[:80]}"


def file_check() -> str:
    """LLVM's FileCheck if there is one, else that of the package ``filecheck``."""
    for version in ("", *(f"-{number}" for number in range(22, 12, -1))):
        if found := shutil.which(f"FileCheck{version}"):
            return found
        candidate = Path(f"/usr/lib/llvm{version}/bin/FileCheck")
        if candidate.exists():
            return str(candidate)
    return shutil.which("filecheck") or str(Path(sys.executable).parent / "filecheck")
