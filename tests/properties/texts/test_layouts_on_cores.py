"""Moves between layouts of metal: geometry against numpy, and what `d2m-lower-to-layout` leaves against the move."""

from __future__ import annotations

import math

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.layout_specification.metal_layout import MetalLayout, core_maps, physical_grid, reblock_map, transform_map
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.transforms.texts.registry import text_passes

TILE_WORDS = {"f32": "f32", "bf16": "bf16", "si32": "si32", "ui32": "u32", "ui16": "u16"}
DTYPES = {
    "f32": torch.float32, "bf16": torch.bfloat16, "si32": torch.int32, "ui32": torch.uint32, "ui16": torch.uint16,
}  # fmt: skip


def aligned(extent, unit):
    return -(-extent // unit) * unit


def divisors(number):
    return [each for each in range(1, min(number, 8) + 1) if number % each == 0]


def physical_array(x, layout):
    """The padded and collapsed array, by numpy alone; padding is -1."""
    for start, end in reversed([each for each in layout.normalized_intervals if each[1] > each[0]]):
        for dim in reversed(range(start, end)):
            missing = aligned(x.shape[dim], layout.dim_alignments[dim]) - x.shape[dim]
            x = np.pad(x, [(0, missing if at == dim else 0) for at in range(x.ndim)], constant_values=-1)
            if dim > start:
                x = x.reshape(*x.shape[: dim - 1], -1, *x.shape[dim + 1 :])
    if len(layout.logical_shape) == 1:
        x = np.pad(x[None], [(0, 31), (0, 0)], constant_values=-1)
    return x


def device_array(x, grid):
    rank = len(grid)
    shape = [each for extent, cores in zip(x.shape, grid, strict=True) for each in (cores, extent // cores)]
    return x.reshape(shape).transpose([*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)])


@st.composite
def shapes(draw, largest=70):
    return tuple(draw(st.lists(st.integers(1, largest), min_size=1, max_size=4)))


@st.composite
def layouts(draw, shape, tiled):
    """A layout of a shape, and a grid that divides it."""
    rank = len(shape)
    units = [1] * (rank - 2) + [32] * min(rank, 2)
    alignments = tuple(unit * draw(st.sampled_from([1, 1, 2])) for unit in units)
    collapsed = ((0, rank - 1), (rank - 1, rank)) if rank > 1 else ((0, 1),)
    intervals = draw(st.sampled_from([collapsed, ()])) if rank > 2 else collapsed
    layout = MetalLayout(shape, alignments, intervals)
    extents = layout.physical_shape((32, 32) if tiled else ())
    grid = []
    for extent in extents:
        fitting = [each for each in divisors(extent) if math.prod(grid) * each <= 32]
        grid.append(draw(st.sampled_from(fitting)))
    return layout, tuple(grid)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_maps_between_indices_agree_with_the_padded_and_split_array(data):
    shape = data.draw(shapes(largest=9))
    layout, grid = data.draw(layouts(shape, False))
    numbers = np.arange(math.prod(shape)).reshape(shape)
    placed = device_array(physical_array(numbers, layout), grid)
    assert placed.shape == layout.device_shape(grid)
    if len(shape) == 1:
        return  # the row that such a tensor gets has no logical dimension
    where = layout.logical_to_device(grid).evaluate([*np.indices(shape)])
    assert (placed[tuple(np.broadcast_to(each, shape) for each in where)] == numbers).all()
    back = layout.device_to_logical(grid).evaluate([*np.indices(placed.shape)])
    is_inside = placed >= 0
    found = [np.broadcast_to(each, placed.shape)[is_inside] for each in back]
    assert (numbers[tuple(found)] == placed[is_inside]).all()
    other, other_grid = data.draw(layouts(shape, False))
    target = device_array(physical_array(numbers, other), other_grid)
    moved = transform_map(layout, grid, other, other_grid).evaluate([*np.indices(target.shape)])
    is_inside = target >= 0
    assert (placed[tuple(np.broadcast_to(each, target.shape)[is_inside] for each in moved)] == target[is_inside]).all()


@given(st.lists(st.integers(1, 6), min_size=4, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_reblocking_keeps_the_order_of_physical_indices(source, data):
    rows, columns = source[0] * source[2], source[1] * source[3]
    grid = [data.draw(st.sampled_from(divisors(each))) for each in (rows, columns)]
    result = (*grid, rows // grid[0], columns // grid[1])
    matrix = np.arange(rows * columns).reshape(rows, columns)
    before, after = device_array(matrix, source[:2]), device_array(matrix, grid)
    found = reblock_map(source, result).evaluate([*np.indices(result)])
    assert (before[tuple(np.broadcast_to(each, result) for each in found)] == after).all()


@given(st.lists(st.integers(1, 8), min_size=2, max_size=4).filter(lambda grid: math.prod(grid) <= 64))
def test_every_core_of_a_virtual_grid_has_a_core_of_its_own(grid):
    if not any(math.prod(grid) % rows == 0 and math.prod(grid) // rows <= 8 for rows in range(1, 9)):
        return  # no rectangle of the device has so many cores
    forward, inverse = core_maps(grid, physical_grid(math.prod(grid), (8, 8)))
    cores = [*np.ndindex(*grid)]
    placed = [forward.evaluate([*core, *[0] * len(grid)])[:2] for core in cores]
    assert len({*placed}) == len(cores)
    assert all(max(each) < 8 for each in placed)
    assert [tuple(inverse.evaluate(each)[1:]) for each in placed] == cores


# --- The pass ---------------------------------------------------------------------------------------------------------


def type_text(layout, grid, element, tiled, memory, is_december):
    """The type of a tensor in a layout."""
    if is_december:
        memory = f"undef, {memory}, index_map = map(0)"
    intervals = [[*each] for each in layout.intervals]
    dense = f"dense<{intervals if intervals else ''}> : tensor<{len(intervals)}x2xi64>"
    extents = layout.device_shape(grid, (32, 32) if tiled else ())
    word = f"!ttcore.tile<32x32, {TILE_WORDS[element]}>" if tiled else element
    logical, padded = ("x".join(map(str, each)) for each in (layout.logical_shape, layout.dim_alignments))
    return (
        f"tensor<{'x'.join(map(str, extents))}x{word}, #ttcore.metal_layout<logical_shape = {logical}, "
        f"dim_alignments = {padded}, collapsed_intervals = {dense}, {memory}>>"
    )


def moves_text(host, types):
    """A function that moves a tensor through types and back to the host."""
    lines, value, before = [], "%x", host
    for index, each in enumerate([*types, host]):
        lines += [
            f"%e{index} = d2m.empty() : {each}",
            f"%m{index} = d2m.to_layout {value}, %e{index} : {before} into {each} -> {each}",
        ]
        value, before = f"%m{index}", each
    return f"func.func @f(%x: {host}) -> {host} {{ {' '.join(lines)} return {value} : {host} }}"


def result_of(text, passes, x):
    (module,) = parse_texts(text, "moves")
    for name in passes:
        for each in text_passes(name, ""):
            each.apply(UpstreamContext.make(), module)
    names = {op.name for op in module.walk()}
    assert ("d2m.to_layout" in names) is not ("d2m-lower-to-layout" in passes)
    (found,) = TextModule(module, resolve_target("cpu")).program("f")(x)
    return found, names


def numbers_of(shape, element, seed):
    generator = torch.Generator().manual_seed(seed)
    if element in {"f32", "bf16"}:
        return torch.randn(shape, generator=generator).to(DTYPES[element])
    return torch.randint(0, 60_000, shape, generator=generator).to(DTYPES[element])


@given(st.data())
@settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_lowered_chain_of_moves_gives_the_bits_of_the_moves(data):
    shape = data.draw(shapes())
    element = data.draw(st.sampled_from([*DTYPES]))
    types, is_december = [], data.draw(st.booleans())
    for _ in range(data.draw(st.integers(1, 3))):
        tiled = data.draw(st.booleans())
        layout, grid = data.draw(layouts(shape, tiled))
        kind = data.draw(st.sampled_from(["l1, sharded", "dram, sharded", "dram, interleaved"]))
        is_whole = kind == "dram, interleaved"
        types.append(type_text(layout, [1] * len(grid) if is_whole else grid, element, tiled, kind, is_december))
    host = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    text, x = moves_text(host, types), numbers_of(shape, element, len(types))
    moved, _ = result_of(text, ["ttcore-register-device"], x)
    lowered, names = result_of(text, ["ttcore-register-device", "d2m-lower-to-layout"], x)
    assert {"d2m.to_device", "d2m.to_host"} <= names
    assert not names & ({"d2m.remote_load"} if is_december else {"d2m.dma", "d2m.reserve"})
    assert torch.equal(moved.view(torch.uint8), x.view(torch.uint8))
    assert torch.equal(lowered.view(torch.uint8), x.view(torch.uint8))
