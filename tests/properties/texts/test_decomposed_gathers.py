"""`ttir.gather` of slices is rows of an embedding: the elements that StableHLO's definition names, index by index."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts.passes_keep_results import after_passes, results_of
from ttnn_jit.frontend.ir.texts import parse_texts

PASSES = ("ttir-to-ttir-decomposition", "ttir-to-ttnn-backend-pipeline")


def gathered(
    x: torch.Tensor,
    starts: torch.Tensor,
    dims: tuple[int, ...],
    sizes: list[int],
    collapsed: list[int],
    offsets: list[int],
):
    """The definition of StableHLO's gather, whose index vectors are the last dimension of `starts`."""
    batch = starts.shape[:-1]
    kept = [dim for dim in range(x.dim()) if dim not in collapsed]
    rank = len(batch) + len(kept)
    batch_dims = [dim for dim in range(rank) if dim not in offsets]
    extents = [0] * rank
    for dim, extent in [
        *zip(batch_dims, batch, strict=True),
        *zip(offsets, (sizes[each] for each in kept), strict=True),
    ]:
        extents[dim] = extent
    found = torch.empty(extents)
    for place in product(*map(range, extents)):
        index = [0] * x.dim()
        for dim, first in zip(dims, starts[tuple(place[each] for each in batch_dims)].tolist(), strict=True):
            index[dim] = min(max(first, 0), x.shape[dim] - sizes[dim])
        for dim, offset in zip(kept, (place[each] for each in offsets), strict=True):
            index[dim] += offset
        found[place] = x[tuple(index)]
    return found


@st.composite
def gathers(draw):
    shape = draw(st.lists(st.integers(2, 5), min_size=2, max_size=4))
    dims = draw(st.lists(st.sampled_from(range(len(shape))), min_size=1, max_size=len(shape), unique=True))
    sizes = [draw(st.integers(1, extent - 1)) if dim in dims else extent for dim, extent in enumerate(shape)]
    collapsed = [dim for dim in dims if sizes[dim] == 1 and draw(st.booleans())]
    batch = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    rank = len(batch) + len(shape) - len(collapsed)
    offsets = sorted(draw(st.permutations(range(rank)))[: len(shape) - len(collapsed)])
    return shape, dims, sizes, sorted(collapsed), batch, offsets, draw(st.integers(0, 2**31))


@settings(max_examples=24)
@given(gathers(), st.sampled_from(PASSES))
def test_slices_of_any_dimensions_are_rows_of_an_embedding(drawn_gather, passes):
    shape, dims, sizes, collapsed, batch, offsets, seed = drawn_gather
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator)
    # An index beyond the table is held there by the embedding as a whole, so those of single rows are within it.
    columns = [
        torch.randint(-1 if sizes[dim] > 1 else 0, shape[dim] + (sizes[dim] > 1), batch, generator=generator)
        for dim in dims
    ]
    starts = torch.stack(columns, -1).int()
    wanted = gathered(x, starts, tuple(dims), sizes, collapsed, offsets)

    def listed(values: list[int]) -> str:
        return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"

    def tensor(extents: tuple[int, ...], element: str) -> str:
        return f"tensor<{'x'.join(map(str, extents))}x{element}>"

    types = tensor(x.shape, "f32"), tensor(starts.shape, "i32"), tensor(wanted.shape, "f32")
    text = f"""func.func @main(%x: {types[0]}, %starts: {types[1]}) -> {types[2]} {{
      %0 = "ttir.gather"(%x, %starts) <{{offset_dims = {listed(offsets)}, collapsed_slice_dims = {listed(collapsed)},
        operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = {listed(dims)},
        index_vector_dim = {len(batch)} : si64, slice_sizes = {listed(sizes)}, indices_are_sorted = false}}>
        : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""
    lowered = after_passes(text, passes)
    assert "ttir.gather" not in str(lowered)
    (found,), _ = results_of(lowered, [x, starts])
    assert torch.equal(found, wanted)
    (module,) = parse_texts(text, "gather.mlir")
    assert torch.equal(results_of(module, [x, starts])[0][0], wanted)


@pytest.mark.parametrize("sizes", [[1, 3, 3, 4], [1, 2, 6, 4]])
def test_windows_of_an_image_are_one_embedding(sizes):
    x, starts = torch.randn(1, 6, 6, 4), torch.randint(-1, 7, (5, 2)).int()
    text = f"""func.func @main(%x: tensor<1x6x6x4xf32>, %starts: tensor<5x2xi32>)
        -> tensor<{sizes[0]}x{sizes[1]}x{sizes[2]}x{sizes[3]}x5xf32> {{
      %0 = "stablehlo.gather"(%x, %starts) <{{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2, 3],
        start_index_map = [1, 2], index_vector_dim = 1>, slice_sizes = array<i64: {", ".join(map(str, sizes))}>}}>
        : (tensor<1x6x6x4xf32>, tensor<5x2xi32>) -> tensor<{sizes[0]}x{sizes[1]}x{sizes[2]}x{sizes[3]}x5xf32>
      return %0 : tensor<{sizes[0]}x{sizes[1]}x{sizes[2]}x{sizes[3]}x5xf32>
    }}"""
    (module,) = parse_texts(text, "gather.mlir")
    wanted = gathered(x, starts, (1, 2), sizes, [], [0, 1, 2, 3])
    assert torch.equal(results_of(module, [x, starts])[0][0], wanted)
