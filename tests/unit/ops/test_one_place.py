"""What an operation is stands in one place: no other room names one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ttnn_jit
from ttnn_jit import ops
from ttnn_jit.ops import activations, binary, data_movement, predicates, ternary, unary

PACKAGE = Path(ttnn_jit.__file__).parent
HOMES = ("ops", "kernels")
LINKED = (path for room in ("cache", "kernels") for path in (PACKAGE / room).rglob("*.py"))
FILES = sorted(path for path in {*PACKAGE.rglob("*.py"), *LINKED} if path.relative_to(PACKAGE).parts[0] not in HOMES)

OTHER_MEANINGS = {
    ("codegen/numba_kernel.py", "i0"): "the variable of an innermost loop",
    ("dialects/d2m.py", "tile_typecast"): "the op of tiles, which every pass may write",
    ("ttnn/experimental.py", "typecast"): "the function of the host API, under ttnn's other name",
    ("ttnn/experimental.py", "view"): "the eager function, under ttnn's other name",
    ("ttnn/__init__.py", "typecast"): "the function of the host API, which takes tensors on the host too",
    **{
        ("foreign/torch_operators.py", word): "what torch calls an operator of Python's"
        for word in (
            "abs",
            "add",
            "div",
            "ge",
            "gt",
            "le",
            "lt",
            "matmul",
            "mul",
            "ne",
            "neg",
            "pow",
            "remainder",
            "sub",
        )
    },
    ("tools/opt.py", "all"): "every pass",
    **{
        ("ttnn/moreh.py", word): "moreh's function of that name"
        for word in ("cumsum", "layer_norm", "mean", "norm", "softmax", "sum")
    },
    ("frontend/language.py", "add"): "the operation that every namespace of ttnn has",
    ("frontend/python_functions.py", "copy"): "the method of containers",
    ("runtime/tensor.py", "copy"): "the function that is being called, as an error names it",
    ("frontend/python_functions.py", "add"): "the method of sets",
    ("frontend/python_functions.py", "reverse"): "the method of lists",
    ("frontend/python_functions.py", "sort"): "the method of lists",
    ("frontend/unseen_code.py", "reverse"): "the method of lists",
    ("guards/fingerprints.py", "slice"): "Python's builtin",
    ("runtime/helper_ir.py", "round"): "a variable of LLVM text: the round of work that helpers serve",
}
"""File and word -> what it means there, where it is an operation's name by chance."""


def names():
    for each in ops.OPERATIONS:
        yield from (each.name, each.ttnn_name, each.ttir_name, each.tile_name)
    yield from ops.ALIASES


NAMES = set(names())
DECLARED = {
    name
    for module in (unary, activations, predicates, binary, ternary, data_movement)
    for name, value in vars(module).items()
    if isinstance(value, ops.Operation)
}


def strings(tree):
    """String literals that are no docstrings, with the last part of dotted names: ``ttnn.exp`` says ``exp``."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value.rpartition(".")[2]


def declarations_imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ttnn_jit.ops."):
            yield from (alias.name for alias in node.names if alias.name in DECLARED)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_room_but_ops_and_kernels_names_an_operation(path):
    tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(PACKAGE).as_posix()
    named = {word for word in strings(tree) if word in NAMES and (place, word) not in OTHER_MEANINGS}
    assert not named
    assert not set(declarations_imported(tree))


def test_words_of_other_meanings_still_stand_where_they_are_said_to():
    for (place, word), _ in OTHER_MEANINGS.items():
        assert word in set(strings(ast.parse((PACKAGE / place).read_text(encoding="utf-8")))), (place, word)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('x = "exp"', True),
        ('x = "ttnn.exp"', True),
        ('match name:\n    case "tile_exp": pass', True),
        ('"exp"', False),
        ('x = f"{y}_exp"', False),
    ],
)
def test_a_name_is_found_in_code_and_not_in_a_docstring(source, found):
    assert bool(set(strings(ast.parse(source))) & NAMES) is found
