import re

from tests.unit.transforms.ttnn_modules import (
    add_tree_8_to_1,
    block_sharded,
    lowered,
    unary_chain,
)
from ttnn_jit.dialects import print_module
from ttnn_jit.transforms.passes.inline_kernels import inline_kernels


def runs(graph, what):
    """The number of times that lines with `what` run on one core, by the loops in the text of the kernel."""
    total, trips = 0, [1]
    for line in print_module(lowered(graph, until="convert-d2m-to-ttnn")).splitlines():
        bounds = [int(bound) for bound in re.findall(r"(?:=|to|step) (?:%c)?(\d+)", line)] if ".for " in line else [1]
        if line.endswith("{"):
            trips.append(trips[-1] * len(range(*bounds)))
        elif line.strip() == "}":
            trips.pop()
        elif what in line:
            total += trips[-1]
    return total


def test_init_calls_of_the_unary_chain_fall_by_eight():
    chain = unary_chain(block_sharded(1024, 1024))
    assert (runs(chain, '= "d2m.tile_'), runs(chain, '"d2m.tile_init"')) == (4 * 16, 4 * 2)


def test_a_nest_of_several_ops_initialises_each_for_every_tile():
    tree = add_tree_8_to_1(block_sharded(1024, 1024))
    assert (runs(tree, '= "d2m.tile_'), runs(tree, '"d2m.tile_init"')) == (7 * 16, 7 * 16)


def test_the_init_of_a_chain_is_outside_the_nest():
    text = print_module(lowered(unary_chain(block_sharded(1024, 1024)), until="convert-d2m-to-ttnn"))
    lines = [line.strip() for line in text.splitlines()]
    inits = [at for at, line in enumerate(lines) if "d2m.tile_init" in line]
    assert len(inits) == 4
    assert all(lines[at + 1].startswith("affine.for") for at in inits)


def test_inlining_reverses_outlining():
    before = lowered(unary_chain(block_sharded(1024, 1024)))
    text = print_module(before)
    after = lowered(unary_chain(block_sharded(1024, 1024)), until="convert-d2m-to-ttnn")
    inline_kernels(after)
    assert print_module(after) == text
