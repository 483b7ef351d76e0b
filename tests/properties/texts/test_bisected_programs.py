"""`ttnn-jit bisect` finds the first op that computes wrong; the module that it writes repeats what is wrong."""

import re
from copy import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.tools.cli import main

TYPE = "tensor<3x3xf32>"
UNARY = ("tanh", "abs", "relu", "sigmoid", "neg", "permute")
BINARY = ("add", "multiply", "subtract", "maximum", "matmul")


@st.composite
def programs(draw):
    """The names of the ops of a program, and its text: each op reads the one before, the fourth line has the first."""
    names = draw(st.lists(st.sampled_from(UNARY + BINARY), min_size=1, max_size=8))
    lines, values = [], ["%x", "%y"]
    for index, name in enumerate(names):
        operands = [values[-1]] + ([draw(st.sampled_from(values))] if name in BINARY else [])
        attributes = " <{permutation = array<i64: 1, 0>}>" if name == "permute" else ""
        types = ", ".join([TYPE] * len(operands))
        lines.append(f'%v{index} = "ttir.{name}"({", ".join(operands)}){attributes} : ({types}) -> {TYPE}')
        values.append(f"%v{index}")
    body = "\n".join(lines)
    return names, f"func.func @f(\n%x: {TYPE},\n%y: {TYPE}) -> {TYPE} {{\n{body}\nreturn {values[-1]} : {TYPE}\n}}\n"


def computes_wrong(monkeypatch, name):
    """Makes an op add a half to its result; its golden stays."""
    right = text_operations()[name]
    wrong = copy(right)
    object.__setattr__(wrong, "write", lambda ops, call: right.write(ops, call) + 0.5)
    monkeypatch.setitem(text_operations(), name, wrong)


@given(program=programs(), data=st.data())
@settings(max_examples=12, deadline=None)
def test_the_first_op_that_computes_wrong_is_found_and_its_module_repeats_it(program, data, tmp_path_factory):
    names, text = program
    wrong = data.draw(st.sampled_from(sorted(set(names))))
    folder = tmp_path_factory.mktemp("bisected")
    file, single = folder / "program.mlir", folder / "single.mlir"
    file.write_text(text)
    with pytest.MonkeyPatch.context() as monkeypatch:
        said = []
        monkeypatch.setattr("sys.stderr.write", said.append, raising=False)
        assert main(["bisect", str(file)]) == 0
        computes_wrong(monkeypatch, f"ttir.{wrong}")
        assert main(["bisect", str(file), "-o", str(single)]) == 1
        (module,) = parse_texts(single.read_text(), str(single))
        (function,) = module.body.block.ops
        found, _ = function.body.block.ops
        assert name_of(found) == f"ttir.{wrong}"
        assert re.search(rf"program.mlir:{4 + names.index(wrong)}:", "".join(said))
        assert main(["run", str(single), "--golden"]) == 1
    assert main(["run", str(single), "--golden"]) == 0
