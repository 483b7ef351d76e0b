"""A damaged module gives a result or an error at a location of its text, and nothing else."""

from __future__ import annotations

import ctypes
import random
import re

import numpy
import pytest
import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region

import ttnn_jit
from tests import programs
from tests.damage import damage_module, damaged_text, renumbered_text
from tests.guarded import Guarded
from tests.sampling import drawn, shown
from ttnn_jit import ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects import InvalidModule, parse_module, print_module, verify
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.tensor_spec import BufferType
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.stage_of_module import schedule
from ttnn_jit.transforms import pipeline


def clamped_row(x, row):
    return ttnn.clamp(ttnn.exp(x + row) * 2.0, -1.0, 2.0), row


def reduced_product(x, y):
    return ttnn.sum(ttnn.matmul(x, y, transpose_b=True), dim=1)


def largest_of_rows(x):
    return ttnn.max(ttnn.exp(x), dim=1, keepdim=True)


def moved_and_looked_up(x, indices):
    return ttnn.softmax(ttnn.permute(x, (1, 0)), dim=-1), ttnn.embedding(indices, ttnn.cumsum(x[:, 1:5:2], dim=1))


@pytest.fixture(scope="module")
def texts():
    """Dumps of every stage of programs on a chip, on shards, and on torch memory."""
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
            (moved_and_looked_up, [torch.randn(9, 40), torch.zeros(3, 5, dtype=torch.int32)]),
        ):
            jitted = ttnn_jit.jit()(function)
            found += [jitted.ir(*arguments, stage=stage) for stage in ("frontend", *pipeline.STAGES)]
            if function is clamped_row:
                found += of_several_functions(found[-len(pipeline.STAGES) - 1])
    return [*dict.fromkeys(found)]  # a stage may change nothing


def of_several_functions(text):
    """The texts of every stage of a module whose entry point calls the function of another, `text`."""
    module = parse_module(text)
    callee = single_function(module)
    callee.properties["sym_visibility"] = StringAttr("private")
    types = callee.function_type
    body = Block(arg_types=types.inputs)
    call = CallOp(callee.sym_name.data, body.args, types.outputs.data)
    body.add_ops([call, ReturnOp(*call.results)])
    module.body.block.add_op(FuncOp("main", types, Region(body)))
    found = [print_module(module)]
    pipeline.run(module, CompileOptions(), observer=lambda _, left: found.append(print_module(left)))
    return found


def commands(file):
    """The actions on a module, the cheapest first: a text that the first refuses needs no other."""
    return ["opt", file], ["run", file, "--save", "/dev/null"], ["run", file, "--save", "/dev/null", "--interpret"]


def assert_ends_well(text, path, capsys):
    path.write_text(text, encoding="utf-8", newline="")
    for command in commands(str(path)):
        status = main(command)
        said = capsys.readouterr().err
        at = rf"{re.escape(str(path))}:\d+:\d+: "
        assert status == 0 or re.match(rf"(error: {at}|{at}error: )[^\n]", said), said  # the second as mlir-opt says it
        if status:
            return


@pytest.mark.parametrize("seed", range(5))
def test_a_text_with_one_character_damaged_gives_a_result_or_an_error_at_its_location(seed, texts, tmp_path, capsys):
    draw = random.Random(seed)
    for _ in range(drawn(60)):
        assert_ends_well(damaged_text(draw, draw.choice(texts)), tmp_path / "damaged.mlir", capsys)


@pytest.mark.parametrize("seed", range(5))
def test_a_module_with_one_change_gives_a_result_or_an_error_at_its_location(seed, texts, tmp_path, capsys):
    draw = random.Random(seed)
    for _ in range(drawn(60)):
        module = parse_module(draw.choice(texts), "damaged.mlir")
        damage_module(draw, module)
        if (error := refusal(module)) is None:
            assert_ends_well(print_module(module), tmp_path / "damaged.mlir", capsys)
        else:
            assert error.location is not None, error.message


@pytest.mark.parametrize("seed", range(3))
def test_a_module_with_other_numbers_stays_within_its_operands_or_is_refused_at_its_location(seed, texts):
    """Operands lie between inaccessible pages; accepted modules have the interpreter's bits."""
    draw, outcomes = random.Random(seed), set()
    for _ in range(drawn(135)):
        text = renumbered_text(draw, draw.choice(texts))
        try:
            outcomes.add(runs_as_interpreted(draw, text))
        except (ArgumentError, CompileError, InvalidModule) as error:
            outcomes.add("refused" if error.location is not None else error.message)
    assert {True, "refused"} <= outcomes <= {True, "refused"}


def runs_as_interpreted(draw, text):
    module = parse_module(text, "edited.mlir")
    verify(module)
    schedule(module)
    if sum(spec.nbytes for spec in argument_specs(module)) > _MOST_BYTES:
        return True
    literal = module.clone()
    plan = (program := driver.compile_scheduled(module)).plan
    specs = (*plan.inputs, *plan.outputs)
    if sum(spec.nbytes for spec in specs) > _MOST_BYTES or any(spec.strides for spec in specs):
        return True
    guarded = [Guarded(spec.nbytes, start=draw.random() < 0.5) for spec in specs]
    data = [draw.randbytes(spec.nbytes) if spec.dtype.is_integer else bytes(spec.nbytes) for spec in plan.inputs]
    for memory, elements in zip(guarded, data, strict=False):
        ctypes.memmove(memory.address, elements, len(elements))
    program.run(*(memory.address for memory in guarded))
    if any(
        spec.memory_config.buffer_type is not BufferType.SYSTEM_MEMORY or spec.dtype.itemsize != 4 for spec in specs
    ):
        return True
    arrays = [
        numpy.frombuffer(elements, spec.dtype.compute.numpy).reshape(spec.shape)
        for elements, spec in zip(data, plan.inputs, strict=True)
    ]
    made = zip(guarded[len(data) :], plan.outputs, interpret(literal, arrays), strict=True)
    return all(ctypes.string_at(memory.address, spec.nbytes) == array.tobytes() for memory, spec, array in made)


def is_plain(spec):
    """Whether the interpreter stores the elements of a tensor as memory does."""
    return spec.memory_config.buffer_type is BufferType.SYSTEM_MEMORY and spec.dtype.itemsize == 4


_MOST_BYTES = 1 << 22  # of tensors that a changed number made large


def argument_specs(module):
    return [spec_of(argument.type) for argument in single_function(module).body.block.args]


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
def test_larger_damage_ends_in_the_same_ways(damage, texts, request, tmp_path, capsys):
    damaged_texts = {text: damage(text) for text in shown(request.node.name, texts)}
    for damaged in dict.fromkeys(damaged_texts.values()):  # some are equal
        if damaged not in damaged_texts:  # nothing to damage
            assert_ends_well(damaged, tmp_path / "damaged.mlir", capsys)


def test_lines_may_end_as_on_windows(texts, tmp_path):
    for text in texts:
        assert print_module(parse_module(text.replace("\n", "\r\n"))) == text
    path = tmp_path / "module.mlir"
    path.write_bytes(texts[0].replace("\n", "\r\n").encode())
    assert main(["opt", str(path), "-o", str(tmp_path / "again.mlir")]) == 0
    assert (tmp_path / "again.mlir").read_text() == texts[0]


@pytest.mark.parametrize("name", ["folder.mlir", "folder.ttjp", "none.ttjp", "empty.ttjp", "text.ttjp", "bytes.mlir"])
def test_a_foreign_file_is_an_error_that_names_it(name, tmp_path, capsys):
    (tmp_path / "folder.mlir").mkdir()
    (tmp_path / "folder.ttjp").mkdir()
    (tmp_path / "empty.ttjp").write_bytes(b"")
    (tmp_path / "text.ttjp").write_text("TTJP, but not really, and longer than a prefix of a program is")
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe\x00")
    assert main(["run", str(tmp_path / name)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
