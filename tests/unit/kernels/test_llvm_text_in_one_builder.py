"""No file but the builder writes an LLVM instruction, a label or a phi node."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOMS = [ROOT / "kernels", *(ROOT / "ttnn_jit" / room for room in ("codegen", "runtime", "nest"))]
BUILDER = ROOT / "kernels" / "llvm"
FILES = sorted(path for room in ROOMS for path in room.rglob("*.py") if BUILDER not in path.parents)

INSTRUCTION = re.compile(
    r"\bphi\b|\bbr (label|i1)\b|\bret (void|i\d+|float|ptr)\b|\bgetelementptr\b|\bshufflevector\b|\binsertelement\b"
    r"|\bcall (void|i\d+|float|ptr|<)|\b(load|alloca) (i\d+|float|ptr|<|\[)|\bstore (i\d+|float|ptr|<)"
    r"|\b[fi]cmp [a-z]+ |\b(f?add|f?sub|f?mul|and|or|xor|shl|lshr|ashr) (i\d+|float|<)|^\s*%[\w.]+ = "
)


def texts_in(path: Path) -> list[tuple[int, str]]:
    """The strings of a file except docstrings, with their lines."""
    tree = ast.parse(path.read_text())
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [(node.lineno, node.value) for node in strings if id(node) not in described]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_but_the_builder_contains_llvm_text(path):
    assert [(line, text) for line, text in texts_in(path) if INSTRUCTION.search(text)] == []


def test_the_builder_is_in_the_listed_files():
    found = [text for path in BUILDER.glob("*.py") for _, text in texts_in(path) if INSTRUCTION.search(text)]
    assert len(found) > 10
