"""What of a tree's texts is read: ``python -m benchmarks.texts.text_yardsticks TREE [--only REGEX] [--show N]``.

A *module* is a part of a file: between lines ``// -----`` if the file's command line splits it, else the whole. It is
*negative* if a comment expects an error, ``expected-error`` or ``CHECK: error:``; all others are *positive*.

- *parses*: every body is parsed; a module in which one is kept as text is *kept*, and counts as not parsed;
- *printed back*: the text that is printed parses to an equal module;
- *valid*: the verifier accepts it;
- *for its own reason*: a negative one is refused with the message that it expects, by the parser or the verifier alone:
  an error that a pass would make counts against it.

Nothing of the tree is executed, and nothing of it is written anywhere.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.text.content import content_of
from ttnn_jit.dialects.upstream.reading import Reading, pieces_of, read_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.dialects.verifier import InvalidModule

_CODE = re.compile(r"^\s*[^/\s]", re.MULTILINE)
_CHECKED = re.compile(r"//\s*[\w-]*(?:CHECK|ERROR)[\w-]*:.*?error:\s*(?P<text>.*)$", re.MULTILINE)
_EXPECTED = re.compile(r"expected-error(?:-re)?\s*(?:@\S+)?\s*(?:\d+\s*)?\{\{(?P<text>.*?)\}\}\s*$", re.MULTILINE)


@dataclass
class Counts:
    """How many modules reach each mark.

    Attributes:
        seconds: Process time of parsing.
        characters: Characters of the modules.
        misses: What went wrong -> how often, and the first place.
    """

    positive: int = 0
    parsed: int = 0
    kept: int = 0
    printed: int = 0
    valid: int = 0
    negative: int = 0
    own_reason: int = 0
    other_reason: int = 0
    seconds: float = 0.0
    characters: int = 0
    misses: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)

    def miss(self, kind: str, reason: str, place: str) -> None:
        """Notes what went wrong at a place."""
        key = f"{kind}: {re.sub(r'[0-9]+', 'N', reason.partition(chr(10))[0])[:100]}"
        self.misses[key] += 1
        self.places.setdefault(key, place)


def modules_of(file: Path) -> Iterator[tuple[int, str]]:
    """The modules of a file, each with the number of lines before it."""
    text = file.read_text(encoding="utf-8", errors="replace")
    pieces = pieces_of(text) if "split-input-file" in text else [(0, text)]
    return ((line, piece) for line, piece in pieces if _CODE.search(piece))


def expected_errors(text: str) -> list[str]:
    """The errors that the comments of a module expect."""
    return [match["text"].strip() for pattern in (_CHECKED, _EXPECTED) for match in pattern.finditer(text)]


def fits(expected: str, message: str) -> bool:
    """Whether a message holds an expected one, in which ``{{...}}`` is a regular expression."""
    parts = re.split(r"\{\{(.*?)\}\}", expected)
    pattern = "".join(re.escape(part) if index % 2 == 0 else part for index, part in enumerate(parts))
    try:
        return re.search(pattern, message) is not None
    except re.error:
        return expected in message


def count(files: Sequence[Path]) -> Counts:
    """The counts of all modules in `files`."""
    counts = Counts()
    for file in files:
        for line, text in modules_of(file):
            place = f"{file}:{line + 1}"
            expected = expected_errors(text)
            if expected:
                _count_negative(text, expected, place, counts)
            else:
                _count_positive(text, place, counts)
    return counts


def _count_positive(text: str, place: str, counts: Counts) -> None:
    counts.positive += 1
    counts.characters += len(text)
    start = process_time()
    try:
        reading: Reading | None = read_upstream(text)
    except InvalidModule as error:
        reading = None
        counts.miss("parse", error.message, place)
    counts.seconds += process_time() - start
    if reading is None:
        counts.kept += _is_kept(text)
        return
    counts.parsed += 1
    _count_printed(reading, place, counts)
    try:
        verify_upstream(reading.module)
        counts.valid += 1
    except InvalidModule as error:
        counts.miss("verify", error.message, place)


def _is_kept(text: str) -> bool:
    """Whether a module parses if bodies that do not are kept."""
    try:
        return bool(read_upstream(text, keep_bodies=True).kept)
    except InvalidModule:
        return False


def _count_printed(reading: Reading, place: str, counts: Counts) -> None:
    try:
        again = read_upstream(print_module(reading.module)).module
    except InvalidModule as error:
        counts.miss("print", error.message, place)
        return
    if content_of(again) == content_of(reading.module):
        counts.printed += 1
    else:
        counts.miss("print", "another module", place)


def _count_negative(text: str, expected: Sequence[str], place: str, counts: Counts) -> None:
    counts.negative += 1
    try:
        verify_upstream(read_upstream(text).module)
    except InvalidModule as error:
        if any(fits(each, error.message) for each in expected):
            counts.own_reason += 1
        else:
            counts.other_reason += 1
            counts.miss("negative", f"{expected[0][:60]} / {error.message}", place)
        return
    counts.miss("accepted", expected[0], place)


def lines(counts: Counts) -> Iterator[str]:
    """The report."""

    def share(part: int, whole: int) -> str:
        return f"{part:6} of {whole:6}  {100 * part / max(whole, 1):5.1f} %"

    yield f"parse                   {share(counts.parsed, counts.positive)}"
    yield f"  kept as text, besides {share(counts.kept, counts.positive)}"
    yield f"printed back equal      {share(counts.printed, counts.parsed)}"
    yield f"valid                   {share(counts.valid, counts.parsed)}"
    yield f"refused as they expect  {share(counts.own_reason, counts.negative)}"
    yield f"  for another reason    {share(counts.other_reason, counts.negative)}"
    yield f"parsing                 {counts.characters / 1e6 / max(counts.seconds, 1e-9):.2f} MB/s"


def main(arguments: Sequence[str] | None = None) -> None:
    """Counts and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="a folder; its .mlir files are read")
    parser.add_argument("--only", default="", help="a regular expression that the paths contain")
    parser.add_argument("--show", type=int, default=0, help="print this many reasons, the commonest first")
    options = parser.parse_args(arguments)
    sys.setrecursionlimit(5000)
    files = [file for file in sorted(options.tree.rglob("*.mlir")) if re.search(options.only, str(file))]
    counts = count(files)
    print("\n".join(lines(counts)))
    for reason, number in counts.misses.most_common(options.show):
        print(f"{number:6}  {reason}\n        {counts.places[reason]}")


if __name__ == "__main__":
    main()
