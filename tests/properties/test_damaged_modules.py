"""A damaged module ends in a result or in an error at a place of its text, whatever the damage; and nothing else."""

from __future__ import annotations

import random
import re

import pytest
import torch

import ttnn_jit
from tests import programs
from tests.damage import damage_module, damaged_text
from ttnn_jit import ttnn
from ttnn_jit.dialects import InvalidModule, parse_module, print_module, verify
from ttnn_jit.tools.cli import main
from ttnn_jit.transforms import pipeline


def clamped_row(x, row):
    return ttnn.clamp(ttnn.exp(x + row) * 2.0, -1.0, 2.0), row


def reduced_product(x, y):
    return ttnn.sum(ttnn.matmul(x, y, transpose_b=True), dim=1)


def largest_of_rows(x):
    return ttnn.max(ttnn.exp(x), dim=1, keepdim=True)


@pytest.fixture(scope="module")
def texts():
    """Dumps of every stage of programs on a chip, on shards, and on the memory of torch."""
    found = []
    with ttnn.open_device(device_id=0) as device:

        def tiles(*shape, **where):
            data = torch.zeros(*shape, dtype=torch.bfloat16)
            return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device, **where)

        shards = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
        for function, arguments in (
            (programs.cosh, [tiles(64, 64, memory_config=shards)]),
            (clamped_row, [tiles(2, 32, 64), tiles(1, 64)]),
            (programs.add_mul_exp_sigmoid, [torch.randn(7, 5), torch.randn(5, 7).T]),
            (reduced_product, [torch.randn(33, 40), torch.randn(7, 40)]),
            (largest_of_rows, [tiles(64, 64, memory_config=shards)]),
        ):
            jitted = ttnn_jit.jit()(function)
            found += [jitted.ir(*arguments, stage=stage) for stage in ("frontend", *pipeline.STAGES)]
    return found


def commands(file):
    """What is done with a module, the cheapest first: a text that the first refuses needs no other."""
    return ["opt", file], ["run", file, "--save", "/dev/null"], ["run", file, "--save", "/dev/null", "--interpret"]


def assert_ends_well(text, path, capsys):
    path.write_text(text, encoding="utf-8", newline="")
    for command in commands(str(path)):
        status = main(command)
        said = capsys.readouterr().err
        assert status == 0 or re.match(rf"error: {re.escape(str(path))}:\d+:\d+: [^\n]", said), said
        if status:
            return


@pytest.mark.parametrize("seed", range(5))
def test_a_text_with_one_character_damaged_gives_a_result_or_an_error_at_its_place(seed, texts, tmp_path, capsys):
    draw = random.Random(seed)
    for _ in range(30):
        assert_ends_well(damaged_text(draw, draw.choice(texts)), tmp_path / "damaged.mlir", capsys)


@pytest.mark.parametrize("seed", range(5))
def test_a_module_with_one_thing_changed_gives_a_result_or_an_error_at_its_place(seed, texts, tmp_path, capsys):
    draw = random.Random(seed)
    for _ in range(30):
        module = parse_module(draw.choice(texts), "damaged.mlir")
        damage_module(draw, module)
        if (error := refusal(module)) is None:
            assert_ends_well(print_module(module), tmp_path / "damaged.mlir", capsys)
        else:
            assert error.location is not None, error.message


def refusal(module):
    try:
        verify(module)
    except InvalidModule as error:
        return error
    return None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda _: "",
        lambda text: "\0" + text,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("(", "((" * 500),
        lambda text: text.replace("tensor<", "tensor<9999999999999999999999x"),
        lambda text: text.replace("64", "9" * 5000),
        lambda text: text.replace("1 : i64", "99999999999999999999 : i64"),
        lambda _: "module {" * 500,
        lambda _: "#a = " + "[" * 3000 + "]" * 3000,
        lambda text: text.replace("return", "%x = arith.addi %x, %x : i32 return"),
        lambda text: text.replace('"', ""),
        lambda text: text + text,
    ],
)
def test_coarser_damages_end_in_the_same_ways(damage, texts, tmp_path, capsys):
    for damaged in dict.fromkeys(map(damage, texts)):  # some are alike
        assert_ends_well(damaged, tmp_path / "damaged.mlir", capsys)


def test_lines_may_end_as_on_windows(texts, tmp_path):
    for text in texts:
        assert print_module(parse_module(text.replace("\n", "\r\n"))) == text
    path = tmp_path / "module.mlir"
    path.write_bytes(texts[0].replace("\n", "\r\n").encode())
    assert main(["opt", str(path), "-o", str(tmp_path / "again.mlir")]) == 0
    assert (tmp_path / "again.mlir").read_text() == texts[0]


@pytest.mark.parametrize("name", ["folder.mlir", "folder.ttjp", "none.ttjp", "empty.ttjp", "text.ttjp", "bytes.mlir"])
def test_what_is_no_file_of_ours_is_an_error_that_names_it(name, tmp_path, capsys):
    (tmp_path / "folder.mlir").mkdir()
    (tmp_path / "folder.ttjp").mkdir()
    (tmp_path / "empty.ttjp").write_bytes(b"")
    (tmp_path / "text.ttjp").write_text("TTJP, but not really, and longer than a prefix of a program is")
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe\x00")
    assert main(["run", str(tmp_path / name)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
