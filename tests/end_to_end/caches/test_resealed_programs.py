"""A manipulated program with a valid checksum is refused, or accesses nothing outside its operands."""

from __future__ import annotations

import json
import random
import struct
import sys
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests import programs
from tests.damage import damaged_json
from tests.guarded import Guarded
from tests.processes import run_python
from tests.sampling import drawn
from ttnn_jit import ttnn
from ttnn_jit.cache.disk import PROGRAM, store_of
from ttnn_jit.codegen.blocking import attention_row_blocking
from ttnn_jit.codegen.host import host_program
from ttnn_jit.compiler import stored_programs
from ttnn_jit.diagnostics.errors import InternalError, ProgramFormatError
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.plans import program_format
from ttnn_jit.runtime.programs import caller
from ttnn_jit.runtime.programs.program import Launch, Program
from ttnn_jit.specs.options import Environment


def row_scaled(x, row):
    return ttnn.exp(x + row) * row, x * 2.0


ARGUMENTS = (torch.randn(7, 9), torch.randn(9))


def compiled(function, *arguments):
    return ttnn_jit.jit(compile_only=True)(function)(*arguments)


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return program_format.unpack(compiled(row_scaled, *ARGUMENTS).to_bytes())


def launch(header):
    return header["plan"]["launches"][0]


def with_launch(field, change):
    def damage(header):
        launch(header)[field] = change(launch(header)[field])

    return damage


def with_plan(name, change):
    def damage(header):
        header["plan"][name] = change(header["plan"][name])

    return damage


DAMAGES = {
    "an extent beyond the shapes": with_launch(2, lambda params: [params[0] + 1, *params[1:]]),
    "an extent short of them": with_launch(2, lambda params: [params[0] - 1, *params[1:]]),
    "a negative extent": with_launch(2, lambda params: [-params[0], *params[1:]]),
    "an endless loop": with_launch(2, lambda params: [params[0], 1 << 62, *params[2:]]),
    "another stride": with_launch(2, lambda params: [*params[:-1], params[-1] + 1]),
    "a param too many": with_launch(2, lambda params: [*params, 1]),
    "a param of 70 bits": with_launch(2, lambda params: [1 << 70, *params[1:]]),
    "no params": with_launch(2, lambda _: []),
    "operands in another order": with_launch(1, lambda operands: operands[::-1]),
    "an operand too many": with_launch(1, lambda operands: [*operands, 0]),
    "more operands written": with_launch(4, lambda written: written + 1),
    "none written": with_launch(4, lambda _: 0),
    "another kernel": with_launch(0, lambda kernel: kernel + "x"),
    "a launch less": with_plan("launches", lambda launches: launches[1:]),
    "no launches": with_plan("launches", lambda _: []),
    "another element type": with_plan("inputs", lambda specs: [specs[0] | {"dtype": "BFLOAT16"}, *specs[1:]]),
    "a smaller input": with_plan("inputs", lambda specs: [specs[0] | {"shape": [7, 8]}, *specs[1:]]),
    "a result with strides": with_plan("outputs", lambda specs: [specs[0] | {"strides": [900, 1]}, *specs[1:]]),
    "a smaller result": with_plan("outputs", lambda specs: [specs[0] | {"shape": [1, 9]}, *specs[1:]]),
    "a result that nothing writes": with_plan("outputs", lambda specs: [*specs, specs[0]]),
    "descriptors of another kind": lambda header: header.update(descriptors=[{"cbs": 3}]),
    "notes of another kind": lambda header: header.update(notes=3),
    "a processor of another kind": lambda header: header["built_for"].update(features=3),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_program_that_contradicts_its_code_is_refused(damage, saved):
    header, blobs = saved
    assert Program.from_bytes(program_format.pack(header, blobs)).plan.name == "row_scaled"
    DAMAGES[damage](header)
    with pytest.raises(ProgramFormatError):
        Program.from_bytes(program_format.pack(header, blobs))


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-1], lambda code: code[:8], lambda _: b"", lambda code: code[8:]]
)
def test_code_that_is_not_an_image_is_refused(damage, saved):
    header, blobs = saved
    kernel = launch(header)[0]
    with pytest.raises(ProgramFormatError):
        Program.from_bytes(program_format.pack(header, blobs | {kernel: damage(blobs[kernel])}))


def calling(code, symbol):
    """The image with every external function that it calls renamed."""
    (start, magic) = struct.unpack("<I4s", code[-8:])
    functions, called, *rest = json.loads(code[start:-8])
    assert called
    text = json.dumps([functions, dict.fromkeys([symbol], next(iter(called.values()))), *rest]).encode()
    return code[:start] + text + struct.pack("<I4s", start, magic)


NO_FUNCTIONS = ("no_such_function", "", "memcpy\0", "memcpyé", "memcpy\ud800", "_handle", "__init__")


@pytest.mark.parametrize("symbol", NO_FUNCTIONS, ids=ascii)
def test_code_with_unresolved_symbols_is_refused_before_it_runs(symbol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = compiled(lambda x: ttnn.tan(x), torch.randn(64, 64))
    header, blobs = program_format.unpack(program.to_bytes())
    monkeypatch.setattr(native._LOADER, "_addresses", {})
    (kernel,) = program.plan.kernels
    resealed = Program.from_bytes(
        program_format.pack(header, {name: calling(code, symbol) for name, code in blobs.items() if name == kernel})
    )
    with pytest.raises(InternalError, match=r"native code calls .*, which this process lacks"):
        resealed.run(0, 0)


WRONG_STORAGES = ([0] * 7, [-1, 1, 0, 1, 0, 1, 0], [0, 1], "0101010", [0, 1 << 70, 0, 1, 0, 1, 0], [None] * 7, 3)


@pytest.fixture
def of_storages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return in_storages()


def test_a_program_with_wrong_storages_is_refused(of_storages):
    header, blobs = program_format.unpack(of_storages.to_bytes())
    assert Program.from_bytes(program_format.pack(header, blobs)).plan == of_storages.plan
    for storages in WRONG_STORAGES:
        header["plan"]["storages"] = storages
        with pytest.raises(ProgramFormatError):
            Program.from_bytes(program_format.pack(header, blobs))


def test_a_program_with_other_storages_is_refused_or_has_the_same_bits(of_storages):
    draw, plan = random.Random(0), of_storages.plan
    tensors = [torch.randn(tuple(spec.shape)) for spec in plan.inputs]

    def results(program):
        found = [torch.empty(tuple(spec.shape)) for spec in plan.outputs]
        program.run(*(each.data_ptr() for each in (*tensors, *found)))
        return found

    expected, accepted = results(of_storages), 0
    header, blobs = program_format.unpack(of_storages.to_bytes())
    for _ in range(200):
        count = draw.randint(2, 6)
        given = [draw.randrange(count) for _ in plan.intermediates]
        header["plan"]["storages"] = [[*dict.fromkeys(given)].index(each) for each in given]
        try:
            program = Program.from_bytes(program_format.pack(header, blobs))
        except ProgramFormatError:
            continue
        accepted += 1
        assert all(map(torch.equal, results(program), expected))
    assert 5 < accepted < 150


@pytest.mark.parametrize("damage", ["an extent beyond the shapes", "a smaller input", "a result with strides"])
def test_a_stored_program_that_was_resealed_is_compiled_anew(damage):
    function = ttnn_jit.jit()(lambda x, row: row_scaled(x, row))
    expected = function(*ARGUMENTS)
    store = store_of(Environment.read())
    (name,) = store.names(PROGRAM)
    header, blobs = program_format.unpack(store.get(name))
    DAMAGES[damage](header)
    store.set(name, program_format.pack(header, blobs))
    for compiles in (1, 0):
        function.clear()
        stored_programs.IN_MEMORY.clear()
        before = ttnn_jit.cache_info().compiles
        assert all(map(torch.equal, function(*ARGUMENTS), expected))
        assert ttnn_jit.cache_info().compiles == before + compiles


def test_a_stored_program_of_other_inputs_is_compiled_anew():
    def doubled(x):
        return x * 2.0

    function = ttnn_jit.jit()(doubled)
    x = torch.randn(3, 5)
    function(torch.randn(300, 500)), function(x)
    store = store_of(Environment.read())
    large, small = store.names(PROGRAM)
    store.set(small, store.get(large))
    function.clear()
    stored_programs.IN_MEMORY.clear()
    assert torch.equal(function(x), x * 2.0)


class GuardedPool:
    """Allocates intermediates between guard pages."""

    def __init__(self, start):
        self._start = start

    def allocate(self, nbytes):
        return Guarded(nbytes, start=self._start)


def between_guards(spec, start):
    """Memory of a tensor between guard pages, and the address of its first element."""
    if spec.strides is None:
        memory = Guarded(spec.nbytes, start=start)
        return memory, memory.address
    low, high = spec.span
    memory = Guarded((high - low + 1) * spec.dtype.itemsize, start=start)
    return memory, memory.address - low * spec.dtype.itemsize


def run_between_guards(program):
    if any(spec.nbytes > 1 << 24 for spec in program.plan.buffers):
        return  # too much to map
    for start in (False, True):
        caller.HOST_POOL = GuardedPool(start)
        memories = [between_guards(spec, start) for spec in (*program.plan.inputs, *program.plan.outputs)]
        program.run(*(address for _, address in memories))


def in_blocks():
    """A program with nested repeats."""
    attention_row_blocking.least_bytes = lambda: 0.0
    attention_row_blocking.BLOCK_BYTES, attention_row_blocking._ROWS = 0, 3
    tensors = [torch.randn(2, 3, 10, 8) for _ in range(3)]
    program = compiled(lambda q, k, v: ttnn.matmul(ttnn.softmax(ttnn.matmul(q, k, transpose_b=True)), v), *tensors)
    assert not isinstance(program.plan.launches[0], Launch)
    return program


def in_storages():
    """A program whose buffers, of several widths, share storages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_program, "LEAST_SHARED_BYTES", 0)
        tensors = [torch.randn(shape) for shape in ((5, 6), (6, 20), (20, 9), (9, 12), (12, 3))]
        program = compiled(narrower, *tensors)
    assert program.plan.storages
    return program


def narrower(x, *weights):
    for weight in weights:
        x = ttnn.softmax(ttnn.matmul(x, weight), -1)
    return x


def damage_and_run(seed, count):
    """Runs in its own process, because an access beyond an operand kills it."""
    draw = random.Random(seed)
    rows = torch.randn(5, 7).T
    saved = [
        compiled(row_scaled, *ARGUMENTS),
        compiled(row_scaled, torch.randn(3, 7, 9).bfloat16(), torch.randn(1).bfloat16()),
        compiled(programs.add_mul_exp_sigmoid, torch.randn(7, 5), rows),
        in_blocks(),
        in_storages(),
    ]
    accepted = 0
    for number in range(count):
        header, blobs = program_format.unpack(saved[number % len(saved)].to_bytes())
        for _ in range(draw.randint(1, 3)):
            parts = ["launches", "launches", "inputs", "outputs", "intermediates", "results"]
            part = draw.choice([*parts, *(["storages"] * 3 if "storages" in header["plan"] else [])])
            header["plan"][part] = damaged_json(draw, header["plan"][part])
        try:
            program = Program.from_bytes(program_format.pack(header, blobs))
        except ProgramFormatError:
            continue
        accepted += 1
        run_between_guards(program)
    sys.stdout.write(f"{accepted}")


@pytest.mark.process
@pytest.mark.slow
def test_accepted_programs_access_nothing_outside_their_operands(tmp_path):
    root = Path(__file__).parents[3]
    script = (
        f"import sys; sys.path.insert(0, {str(root)!r}); import tests.end_to_end.caches.test_resealed_programs as t; "
    )
    count = drawn(3200)
    text = f"{script}t.damage_and_run(seed=0, count={count})"
    done = run_python("-W", "error", "-c", text, cwd=tmp_path, check=True)
    assert int(done.stdout) > count / 16  # otherwise nothing was tested
