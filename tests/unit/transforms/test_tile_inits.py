from tests.unit.transforms.ttnn_modules import (
    add_tree_8_to_1,
    block_sharded,
    kernels,
    lowered,
    unary_chain,
)
from ttnn_jit.dialects import print_module
from ttnn_jit.transforms.inline_kernels import inline_kernels
from ttnn_jit.transforms.tile_inits import InitCalls, init_calls


def test_init_calls_of_the_unary_chain_fall_by_eight():
    (kernel,) = kernels(lowered(unary_chain(block_sharded(1024, 1024))))
    assert init_calls(kernel.body) == InitCalls(hoisted=4 * 2, per_tile=4 * 16)


def test_a_nest_of_several_ops_sets_up_each_for_every_tile():
    (kernel,) = kernels(lowered(add_tree_8_to_1(block_sharded(1024, 1024))))
    assert init_calls(kernel.body) == InitCalls(hoisted=7 * 16, per_tile=7 * 16)


def test_the_init_of_a_chain_stands_outside_the_nest():
    text = print_module(lowered(unary_chain(block_sharded(1024, 1024)), until="convert-d2m-to-ttnn"))
    lines = [line.strip() for line in text.splitlines()]
    inits = [at for at, line in enumerate(lines) if "d2m.tile_init" in line]
    assert len(inits) == 4
    assert all(lines[at + 1].startswith("affine.for") for at in inits)


def test_inlined_kernels_are_what_was_outlined():
    before = lowered(unary_chain(block_sharded(1024, 1024)))
    text = print_module(before)
    after = lowered(unary_chain(block_sharded(1024, 1024)), until="convert-d2m-to-ttnn")
    inline_kernels(after)
    assert print_module(after) == text
