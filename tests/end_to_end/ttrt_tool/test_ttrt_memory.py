"""The memory of a chip: banks, the bytes that tensors take of them, and programs that do not fit."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import DramCapacityError, L1CapacityError
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttmlir.ttmlir_runtime.bank_allocator import BankAllocator
from ttnn_jit.ttmlir.ttmlir_runtime.chip_memory import MemoryRun, bytes_per_bank

BANKS = {"dram": 12, "l1": 64}
TOTAL = 1000


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 400), st.integers(-8, -1)), max_size=40))
def test_blocks_of_a_bank_never_overlap_and_free_neighbours_are_one(steps):
    """A positive step allocates so many bytes, a negative one frees the buffer of that number from the end."""
    bank, live = BankAllocator(12, TOTAL), {}
    for step in steps:
        if step > 0:
            before = bank.largest_free
            address = bank.allocate(step)
            assert (address is None) == (step > before)
            if address is not None:
                live[address] = step
        elif len(live) >= -step:
            address = [*live][step]
            bank.free(address)
            del live[address]
        table = bank.as_dict()["block_table"]
        assert [int(each["address"]) for each in table] == [
            sum(int(each["size"]) for each in table[:at]) for at in range(len(table))
        ]
        assert sum(int(each["size"]) for each in table) == TOTAL
        assert {int(each["address"]): int(each["size"]) for each in table if each["allocated"] == "yes"} == live
        assert not any(a["allocated"] == b["allocated"] == "no" for a, b in itertools.pairwise(table))
        assert [each["nextID"] for each in table] == [*(each["blockID"] for each in table[1:]), "-1"]
        assert [each["prevID"] for each in table] == ["-1", *(each["blockID"] for each in table[:-1])]
        assert len({each["blockID"] for each in table}) == len(table)


def layout(memref, grid="1x1", memory="interleaved", buffer="dram"):
    lies = f", <{memory}>" if memory else ""
    return f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <{grid}>, memref<{memref}, #ttnn.buffer_type<{buffer}>>{lies}>"


def function_of(body):
    (module,) = parse_texts(f"module {{ func.func @main({body} }}", "program.mlir")
    return next(each for each in module.body.block.ops if each.name == "func.func")


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("tensor<64x128xf32>", ("dram", 4096)),  # 8 tiles over 12 banks
        (f"tensor<128x128xf32, {layout('4x4x!ttcore.tile<32x32, f32>')}>", ("dram", 2 * 4096)),
        (f"tensor<64x128xbf16, {layout('64x128xbf16')}>", ("dram", 6 * 256)),  # 64 rows over 12 banks
        (f"tensor<64x128xbf16, {layout('2x4x!ttcore.tile<32x32, bf16>', buffer='l1')}>", ("l1", 2048)),
        (
            "tensor<64x128xbf16, " + layout("1x1x!ttcore.tile<32x32, bf16>", "2x4", "block_sharded", "l1") + ">",
            ("l1", 2048),
        ),
        (f"tensor<64x128xf32, {layout('64x128xf32', memory='', buffer='system_memory')}>", ("dram", 0)),
    ],
)
def test_a_tensor_takes_the_bytes_of_its_layout(type_, expected):
    function = function_of(f"%x: {type_}) -> {type_} {{ return %x : {type_} }}")
    assert bytes_per_bank(function.body.block.args[0], BANKS) == expected


@pytest.mark.parametrize(
    ("buffer", "extent", "error"), [("l1", 8192, L1CapacityError), ("dram", 131_072, DramCapacityError)]
)
def test_a_tensor_that_does_not_fit_is_refused(buffer, extent, error):
    tiles = extent // 32
    type_ = f"tensor<{extent}x{extent}xf32, {layout(f'{tiles}x{tiles}x!ttcore.tile<32x32, f32>', buffer=buffer)}>"
    function = function_of(f"%x: {type_}) -> {type_} {{ return %x : {type_} }}")
    with pytest.raises(error, match=f"bytes of every bank of {buffer}, and the largest free block has"):
        MemoryRun(function, resolve_target("wormhole_b0"))


def test_memory_is_logged_at_programs_and_operations(ttrt, binary):
    done = ttrt("run", binary("tan"), "--memory-log-level", "any")
    assert done.status == 0
    assert "memory before program 0: 8,192 bytes of a bank of dram" in done.err
    assert "memory behind operation 0: 16,384 bytes of a bank of dram" in done.err


def test_binaries_of_ttmetal_are_shown_and_not_run(ttrt):
    from ttnn_jit.schemas.binary_file import VERSION
    from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
    from ttnn_jit.schemas.schema import schema

    head = {"version": VERSION, "schema_hash": schema().hash, "mlir": {"name": "ttmetal", "source": "module {}"}}
    data = FlatbufferWriter(schema()).write(head | {"programs": [{"name": "main", "inputs": []}]}, "TTM0")
    Path("out.ttm").write_bytes(data)
    assert ttrt("read", "out.ttm", "--section", "mlir").out == "module {}\n"
    done = ttrt("run", "out.ttm")
    assert done.status == 1
    (record,) = json.loads(Path("run_results.json").read_text())
    assert "is a binary of ttmetal, whose kernels are for a chip; `ttrt read` shows it" in record["exception"]
