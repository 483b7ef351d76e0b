"""Damaged and foreign files are refused with one line, in bounded time and memory."""

import random
import struct
import time

import pytest

from tests.end_to_end.binaries.test_binary_files import made
from ttnn_jit.diagnostics.errors import ProgramFormatError, TtnnJitError
from ttnn_jit.schemas.binary_file import read_file
from ttnn_jit.schemas.flatbuffer_reader import DamagedBufferError, FlatbufferReader
from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
from ttnn_jit.schemas.schema import schema
from ttnn_jit.specs.target import SYSTEMS
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

FILES = {
    "binary": (made().to_bytes(), lambda data: Binary.of_bytes(data, "file.ttnn", ignore_version=True).as_json()),
    "system": (
        SystemDescription.of_target(SYSTEMS["n300"])._data,
        lambda data: SystemDescription(data, "file.ttsys", ignore_version=True).as_json(),
    ),
}


def mutated(draw, data):
    """The bytes of a file, of which some are changed, cut off, inserted or exchanged."""
    data, size = bytearray(data), len(data)
    first, last = sorted(draw.sample(range(size), 2))
    match draw.randrange(7):
        case 0:
            for _ in range(draw.choice([1, 3, 20])):
                data[draw.randrange(size)] ^= 1 << draw.randrange(8)
        case 1:
            del data[first:]
        case 2:
            place = 4 * draw.randrange(size // 4 - 1)
            data[place : place + 4] = struct.pack("<I", draw.choice([0, 1, 2**31 - 1, 2**32 - 1, size, first]))
        case 3:
            data[first:last] = bytes(last - first)
        case 4:
            data = bytearray(draw.randbytes(first % 200))
        case 5:
            data[first:first] = draw.randbytes(draw.randrange(1, 64))
        case _:
            data[first:last] = data[first:last][::-1]
    if len(data) > 4 and draw.random() < 0.7:
        data[:4] = struct.pack("<I", len(data) - 4)
    return bytes(data)


@pytest.mark.parametrize("kind", FILES)
def test_a_thousand_damaged_files_are_refused_with_one_line_or_read(kind):
    data, read = FILES[kind]
    draw = random.Random(5)
    refused = 0
    for _ in range(1000):
        start = time.perf_counter()
        try:
            read(mutated(draw, data))
        except TtnnJitError as error:
            refused += 1
            message = str(error).split("\nhelp: ")[0]
            assert "\n" not in message
            assert len(message) < 400
            assert message.startswith(("file.tt", "attributes ", "the "))
        assert time.perf_counter() - start < 20
    assert refused > 600


def test_every_prefix_of_a_file_is_refused():
    data = made().to_bytes()
    for end in range(0, len(data), 7):
        with pytest.raises(ProgramFormatError):
            Binary.of_bytes(data[:end])


def doubling_tables(depth):
    """A file of programs that all are one, each of whose operations all are one."""
    operation = {"type_type": "DeallocateOp", "type": {"in": {"global_id": 1}}}
    program = {"name": "main", "operations": [operation] * depth}
    return FlatbufferWriter(schema()).write({"programs": [program] * depth}, "TTNN")


def test_parts_that_are_shared_are_counted_each_time():
    with pytest.raises(DamagedBufferError, match="more than 20,000,000 parts"):
        FlatbufferReader(schema(), doubling_tables(5000)).read("TTNN")


def test_vectors_that_overlap_are_refused():
    size = 40_000
    names = b"".join(struct.pack("<I", 4 * (size - index) + 4) for index in range(size))
    table = struct.pack("<HHHHHHHHI", 16, 8, 0, 0, 0, 0, 0, 4, 16)
    programs = table + struct.pack("<I", 4) + struct.pack("<I", size) + names
    body = struct.pack("<I4s", 8 + 16, b"TTNN") + programs + bytes(4 * size)
    data = struct.pack("<I", len(body)) + body
    with pytest.raises(ProgramFormatError, match="x is damaged"):
        read_file(data, "x", "TTNN")


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (
            {"version": {"major": 9, "minor": 0, "patch": 1}},
            r"x is of version 9\.0\.1, of abc, .* and version 0\.1\.0 is",
        ),
        (
            {"schema_hash": "0123"},
            r"x is of version 0\.1\.0, of abc, of the schema 0123, a schema that is not known here",
        ),
    ],
)
def test_a_binary_of_another_version_says_what_it_is_and_what_to_do(head, reason):
    tree = made()._tree | {"ttmlir_git_hash": "abc"} | head
    data = FlatbufferWriter(schema()).write(tree, "TTNN")
    with pytest.raises(ProgramFormatError, match=reason) as caught:
        Binary.of_bytes(data, "x")
    assert "--ignore-version" in caught.value.help
    assert Binary.of_bytes(data, "x", ignore_version=True).names == ["main"]


def program(operations, **given):
    return {"programs": [{"name": "main", "inputs": [TENSOR], "outputs": [TENSOR], "operations": operations} | given]}


TENSOR = made()._tree["programs"][0]["inputs"][0]


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        (program([], outputs=[TENSOR | {"global_id": 77}]), "program 0: tensor 77 is read before it is made"),
        (program([], inputs=[TENSOR, TENSOR]), "program 0: tensor 1 is made twice"),
        (program([{}]), "program 0: operation 0: it has no type"),
        (program([{"type_type": "SoftmaxOp", "type": {"in": TENSOR}}]), "operation 0: `ttnn.softmax` has no result"),
        (program([{"type_type": "SoftmaxOp", "type": {"out": TENSOR}}]), "operation 0: `ttnn.softmax` has no input"),
        (
            program([{"type_type": "FuncCallOp", "type": {"program_id": 3, "inputs": [], "outputs": []}}]),
            "operation 0: `func.call` names program 3 of 1",
        ),
        (program([], inputs=[{"global_id": 1}]), "program 0: tensor 1 has no description"),
        ({"programs": [{}]}, "programs have no names"),
        (program([], mesh_shape={"y": 0, "x": 2}), "a mesh has the shape 0x2"),
    ],
)
def test_tables_that_are_no_program_are_refused(tree, reason):
    data = FlatbufferWriter(schema()).write(made()._tree | tree, "TTNN")
    with pytest.raises(ProgramFormatError, match=reason):
        Binary.of_bytes(data, "x")
