"""How many lit tests of a tree run here: ``python -m benchmarks.texts.lit_yardsticks TREE [--only REGEX] [--show N]``.

A test is a file with ``RUN:`` lines that starts ``ttmlir-opt`` and writes no flatbuffer. Its commands run in process:

- it *runs* if every ``ttmlir-opt`` ends as the test says: with status 0, or under ``not`` with status 1, which an
  unknown option (status 2) is not;
- its *FileChecks hold* if it runs, and each of its FileChecks accepts what it reads.

Tests without a FileCheck are reported apart. LLVM's FileCheck is used if there is one, else the package ``filecheck``.
Nothing of the tree is written; outputs lie in a temporary folder.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ttnn_jit.tools.cli import main as ttnn_jit_main
from ttnn_jit.tools.cli import opt_main

SECONDS = 20
"""The time that a command may take."""

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(?P<command>.*?)(?P<continued>\\)?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What became of one test.

    Attributes:
        checks: The number of its FileChecks.
        failure: Why it does not run, or no FileCheck holds; "" if all is well.
        ran: Whether each ``ttmlir-opt`` ended as the test says.
    """

    checks: int
    ran: bool
    failure: str


@dataclass
class Counts:
    """How many tests with FileChecks, or without, reach each mark."""

    tests: int = 0
    ran: int = 0
    held: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    files: dict[str, list[str]] = field(default_factory=dict)

    def add(self, outcome: Outcome, place: str) -> None:
        """Counts one test."""
        self.tests += 1
        self.ran += outcome.ran
        self.held += outcome.ran and not outcome.failure
        if outcome.failure:
            key = re.sub(r"[0-9]+", "N", outcome.failure)[:110]
            self.failures[key] += 1
            self.files.setdefault(key, []).append(place)


def commands_of(text: str) -> list[str]:
    """The commands of a test, with lines that end with a backslash joined."""
    found, open_ = [], ""
    for match in _RUN.finditer(text):
        open_ += match["command"] + " "
        if not match["continued"]:
            found.append(open_.strip())
            open_ = ""
    return found


def is_counted(commands: Sequence[str]) -> bool:
    """Whether a test starts ``ttmlir-opt`` and writes no flatbuffer."""
    joined = " ".join(commands)
    return "ttmlir-opt" in joined and "to-flatbuffer" not in joined


def run_test(file: Path, folder: Path) -> Outcome:
    """Runs the commands of a test; its outputs go to `folder`."""
    commands = commands_of(file.read_text(encoding="utf-8", errors="replace"))
    checks, failure = " ".join(commands).count("FileCheck"), ""
    for command in commands:
        output = ""
        parts = [shlex.split(part) for part in _substituted(command, file, folder).split("|")]
        for words in parts:
            if words[:1] == ["FileCheck"]:
                failure = failure or _check(words[1:], output)
                continue
            _, output, problem = _run(words, output)
            if problem:
                return Outcome(checks, ran=False, failure=problem)
    return Outcome(checks, ran=True, failure=failure)


def _substituted(command: str, file: Path, folder: Path) -> str:
    for name, value in {
        "%system_desc_path%": "",
        "%s": str(file),
        "%t": str(folder / "t"),
        "%S": str(file.parent),
        "%models": str(file.parent / "models"),
    }.items():
        command = re.sub(rf"{re.escape(name)}(?![A-Za-z_%])", lambda _, value=value: value, command)
    return command


def _run(words: Sequence[str], stdin: str) -> tuple[int, str, str]:
    """Status, output, and why this is not what the test says; "" if it is."""
    refused = words[:1] == ["not"]
    words = words[1:] if refused else words
    merged = "2>&1" in words
    target = None
    if ">" in words:
        target = Path(words[words.index(">") + 1])
        words = words[: words.index(">")]
    arguments = [word for word in words[1:] if word not in {"2>&1", "&&"}]
    match words[0]:
        case "ttmlir-opt":
            status, out, said = _captured(lambda: opt_main(arguments), stdin)
        case "ttmlir-translate":
            status, out, said = _captured(lambda: ttnn_jit_main(["translate", *arguments]), stdin)
        case "rm" | "mkdir" | "true":
            return 0, "", ""
        case "cat":
            return 0, "".join(Path(each).read_text(encoding="utf-8") for each in arguments), ""
        case name:
            return 1, "", f"no command `{name}` here"
    output = out + said if merged else out
    if target is not None:
        target.write_text(output, encoding="utf-8")
    line = next((each for each in said.splitlines() if each.strip()), f"status {status}")
    wrong = (status == 0) if refused else (status != 0)
    if wrong or status == 2:
        return status, output, "accepted, and the test expects an error" if status == 0 else _reason(line, arguments)
    return status, output, ""


def _reason(line: str, arguments: Sequence[str]) -> str:
    """The error without its place."""
    passes = " ".join(each.partition("=")[0] for each in arguments if each.startswith("-"))[:30]
    return f"{re.sub(r'^(error: )?[^ ]*[.]mlir[^ ]*', '', line).strip()} [{passes}]"


def _captured(command: object, stdin: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    before = sys.stdin
    sys.stdin = io.StringIO(stdin)
    signal.signal(signal.SIGALRM, _timed_out)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = command()  # type: ignore[operator]
    except TimeoutError:
        status, err = 1, io.StringIO(f"slower than {SECONDS} s")
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    except Exception as error:  # noqa: BLE001 - a crash is counted, not hidden
        status, err = 3, io.StringIO(f"crash: {type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
        sys.stdin = before
    return status, out.getvalue(), err.getvalue()


def _timed_out(*_: object) -> None:
    raise TimeoutError


def _check(arguments: Sequence[str], stdin: str) -> str:
    """What FileCheck says; "" if it accepts."""
    given = [each.replace("=", "=", 1) for each in arguments]
    command = [_filecheck(), *given]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode == 0:
        return ""
    found = re.search(r"error: .*\n(.*)", done.stderr)
    return f"FileCheck: {found[1].strip() if found else done.stderr[:80]}"


def _filecheck() -> str:
    for version in ("", *(f"-{number}" for number in range(22, 12, -1))):
        if found := shutil.which(f"FileCheck{version}"):
            return found
        candidate = Path(f"/usr/lib/llvm{version}/bin/FileCheck")
        if candidate.exists():
            return str(candidate)
    return shutil.which("filecheck") or str(Path(sys.executable).parent / "filecheck")


def tests_of(tree: Path, only: str) -> Iterator[Path]:
    """The counted tests of a tree whose path matches."""
    for file in sorted(tree.rglob("*.mlir")):
        if re.search(only, str(file)) and is_counted(commands_of(file.read_text(encoding="utf-8", errors="replace"))):
            yield file


def main() -> None:
    """Prints the counts, and the commonest failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="a regular expression of paths")
    parser.add_argument("--show", type=int, default=20, help="how many kinds of failures to print")
    parser.add_argument("--files", action="store_true", help="print the files of each failure")
    options = parser.parse_args()
    with_checks, without = Counts(), Counts()
    for file in tests_of(options.tree, options.only):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run_test(file, Path(folder))
        (with_checks if outcome.checks else without).add(outcome, str(file.relative_to(options.tree)))
    for title, counts in (("with FileCheck", with_checks), ("without FileCheck", without)):
        print(f"{title}: {counts.tests} tests, {counts.ran} run, {counts.held} hold")
        for failure, number in counts.failures.most_common(options.show):
            files = counts.files[failure]
            print(f"  {number:4} {failure}   {' '.join(files) if options.files else files[0]}")


if __name__ == "__main__":
    main()
