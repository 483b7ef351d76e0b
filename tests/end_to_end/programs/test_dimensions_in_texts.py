"""Dimensions in texts may be counted from the end; invalid ones are refused at their op."""

from __future__ import annotations

import re

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.tools.cli import main

DIMS = re.compile(r"(?:dim\w* = |permutation = )(?:\[|array<i64: )?(-?\d+)")
"""The first number of a property that names dimensions."""


def largest(x):
    return ttnn.argmax(x, dim=1, keepdim=True)


PROGRAMS = {
    "argmax": lambda x: ttnn.argmax(x, dim=1),
    "concat": lambda x: ttnn.concat([x, x], dim=1),
    "cumprod": lambda x: ttnn.cumprod(x, 1),
    "cumsum": lambda x: ttnn.cumsum(x, 1),
    "flip": lambda x: ttnn.flip(x, [1]),
    "gather": lambda x: ttnn.gather(x, 1, index=largest(x)),
    "glu": lambda x: ttnn.glu(x, 1),
    "index_fill": lambda x: ttnn.index_fill(x, 1, ttnn.argmax(ttnn.sum(x, 1), dim=0, keepdim=True), 2.0),
    "log_softmax": lambda x: ttnn.log_softmax(x, dim=1),
    "max": lambda x: ttnn.max(x, 1),
    "mean": lambda x: ttnn.mean(x, 1),
    "permute": lambda x: ttnn.permute(x, (1, 0)),
    "prod": lambda x: ttnn.prod(x, 1),
    "repeat_interleave": lambda x: ttnn.repeat_interleave(x, 2, dim=1),
    "scatter": lambda x: ttnn.scatter(x, 1, largest(x), ttnn.sum(x, 1, True)),
    "softmax": lambda x: ttnn.softmax(x, dim=1),
    "sort": lambda x: ttnn.sort(x, dim=1),
    "std": lambda x: ttnn.std(x, 1),
    "sum": lambda x: ttnn.sum(x, 1),
    "topk": lambda x: ttnn.topk(x, 2, dim=1),
    "transpose": lambda x: ttnn.transpose(x, 0, 1),
}


def results(text, tmp_path, mode):
    file, saved = tmp_path / "text.mlir", tmp_path / "results.pt"
    file.write_text(text)
    if main(["run", str(file), "--seed", "1", "--save", str(saved), *mode]):
        return None
    return torch.load(saved, weights_only=True)


@pytest.mark.parametrize("mode", [[], ["--interpret"]], ids=["native", "interpreted"])
@pytest.mark.parametrize("stage", ["frontend", "convert-ttnn-to-ttir"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_dimension_in_a_text_is_one_of_its_tensor_from_either_end(name, stage, mode, tmp_path, capsys):
    text = ttnn_jit.jit(enable_cache=False)(PROGRAMS[name]).ir(torch.zeros(4, 6), stage=stage)
    expected = results(text, tmp_path, mode)
    matches = list(DIMS.finditer(text))
    assert matches
    for match in matches:
        own, shape = int(match[1]), re.compile(r"tensor<((?:\d+x)+)").search(text, match.end())
        rank = shape[1].count("x")
        for dim in (own - rank, rank, 7, -rank - 1, -9):
            changed = text[: match.start(1)] + str(dim) + text[match.end(1) :]
            found = results(changed, tmp_path, mode)
            said = capsys.readouterr().err
            if dim == own - rank:
                assert all(map(torch.equal, found, expected))
            else:
                assert found is None
                assert re.search(rf"text\.mlir:\d+:\d+: .*{dim}|twice|every dimension once", said)


@pytest.mark.parametrize(
    ("name", "dims"), [("sum", "[1 : i32, 1 : i32]"), ("sum", "[-1 : i32, 1 : i32]"), ("flip", "[1 : i32, -1 : i32]")]
)
def test_a_dimension_that_a_text_names_twice_is_refused(name, dims, tmp_path, capsys):
    text = ttnn_jit.jit(enable_cache=False)(PROGRAMS[name]).ir(torch.zeros(4, 6), stage="frontend")
    changed = re.sub(r"\[1 : i32\]|array<i64: 1>", dims if "[1 : i32]" in text else "array<i64: 1, -1>", text, count=1)
    assert changed != text
    assert results(changed, tmp_path, []) is None
    assert re.search(r"text\.mlir:\d+:\d+: .*twice", capsys.readouterr().err)
