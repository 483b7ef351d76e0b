"""The worked numbers and listings of the ttnn.jit document."""

import re
from pathlib import Path

from tests.unit.transforms.ttnn_modules import (
    add_tree_8_to_1,
    block_sharded,
    cosh,
    kernels,
    lowered,
    operations,
    tiled,
    unary_chain,
)
from ttnn_jit.dialects import print_module

LISTING = (Path(__file__).parent / "add_tree_8_to_1_listing.txt").read_text(encoding="utf-8")


def test_cosh_is_one_kernel_that_needs_three_tiles():
    (kernel,) = kernels(lowered(cosh(tiled(32, 32))))
    assert operations(kernel) == ("exp", "neg", "exp", "add", "multiply")
    assert len(kernel.inputs) == 2
    assert kernel.inputs[0] is kernel.inputs[1]
    assert kernel.attributes["d2m.dst_peak"].value.data == 3
    assert kernel.attributes["d2m.dst_peak_source_order"].value.data == 3


def test_the_unary_chain_takes_blocks_of_two_by_four_tiles():
    text = print_module(lowered(unary_chain(block_sharded(1024, 1024))))
    assert re.findall(r"scf\.for %\S+ = %c0 to (%c\d) step (%c\d)", text) == [("%c4", "%c2"), ("%c4", "%c4")]
    assert re.findall(r"affine\.for %\S+ = 0 to (\d)", text) == ["2", "4"] * 6
    assert re.search(r"d2m\.acquire_dst\(\) : memref<1x2x4x!ttcore\.tile<32x32, bf16>", text)
    assert "memref<4x4x!ttcore.tile<32x32, bf16>, #l1>" in text


def test_the_unary_chain_loads_computes_and_stores_in_nests_of_their_own():
    text = print_module(lowered(unary_chain(block_sharded(1024, 1024))))
    nests = text.split("affine.for")[2::2]
    assert [re.findall(r"affine\.\w+|d2m\.tile_\w+", nest) for nest in nests] == [
        ["affine.load", "affine.store"],
        *(["affine.load", f"d2m.tile_{name}", "affine.store"] for name in ("abs", "sin", "neg", "exp")),
        ["affine.load", "affine.store"],
    ]


def test_the_add_tree_needs_five_tiles_instead_of_six_and_nine_buffers():
    (kernel,) = kernels(lowered(add_tree_8_to_1(block_sharded(1024, 1024))))
    assert kernel.attributes["d2m.dst_peak_source_order"].value.data == 6
    assert kernel.attributes["d2m.dst_peak"].value.data == 5
    assert len(kernel.body.block.args) == 9


def test_the_loops_of_the_add_tree_are_the_listing_line_by_line():
    text = print_module(lowered(add_tree_8_to_1(block_sharded(1024, 1024))))
    ours = _normalised(text[text.index("      scf.for") :])
    listing = _normalised(LISTING)
    assert len(listing) == 59
    assert ours[: len(listing)] == listing


def _normalised(text: str) -> list[str]:
    """Lines in the form of the listing: no comments, indentation, aliases or views; values numbered by appearance."""
    text = re.sub(r"#(l1|dst)(_\d+)?\b", r"#ttcore.memory_space<\1>", text)
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith("//") and "memref.subview" not in line]
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        constant = re.fullmatch(r"%c\d+", match[0])
        return match[0] if constant else numbers.setdefault(match[0], f"%v{len(numbers)}")

    return [re.sub(r"%\w+", numbered, line) for line in kept]
