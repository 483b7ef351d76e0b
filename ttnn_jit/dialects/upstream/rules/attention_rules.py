"""Attention over paged caches, updates of caches, sampling of tokens: ranks, types of elements, extents that agree."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.upstream.rules.view import View, require


def verify_chunked_attention(op: Operation) -> None:
    """A chunk of a query, the caches that it attends to, and where the chunk starts."""
    view = View(op)
    query, key = view.shape("query"), view.shape("key")
    require(len(query) == 4, "Query must be a 4D tensor.")
    require(len(key) == len(view.shape("value")) == 4, "Key and value must be 4D tensors.")
    table, start = view.shape("page_table"), view.shape("chunk_start_idx")
    require(len(table) == 2, "Page table must be a 2D tensor.")
    require(len(start) == 1, "Chunk start index must be a 1D tensor.")
    require(start == [1], "Chunk start index must have shape [1] (a single prefix offset shared by all users).")
    _verify_elements(view)
    require(query[3] == key[3], "Query head size must match key/value head size.")
    require(key[1] != 0 and query[1] % key[1] == 0, "Query num heads must be divisible by key/value num heads.")
    require(key[2] % 32 == 0, "Key/value block size must be divisible by 32.")
    require(table[0] == query[0], "Page table number of users must match query number of users.")
    require([*view.result().get_shape()] == query, "Result shape must match query shape.")


def _verify_elements(view: View) -> None:
    query, key, value = (view.type(name).element_type for name in ("query", "key", "value"))
    if view.op.name.startswith("ttir."):  # in ttnn the caches may be block floats
        require(query == key == value, "Query, key, and value must have the same element type.")
    require(_is_float(query), "Query, key, and value must be float tensors.")
    for name, what in (("page_table", "Page table"), ("chunk_start_idx", "Chunk start index")):
        require(_is_integer(view.type(name).element_type), f"{what} must be an integer tensor.")
    require(view.type("key") == view.type("value"), "Key and value must have the same shape and data type.")


def verify_paged_fill(op: Operation) -> None:
    """A cache of blocks, and the batch that is written into it."""
    view = View(op)
    for name, what, rank in (("cache", "Cache", 4), ("input", "Input", 4), ("page_table", "Page table", 2)):
        require(len(view.shape(name)) == rank, f"{what} tensor must be a {rank}D tensor")
    cache, given = view.type("cache").element_type, view.type("input").element_type
    require(cache == given, "Cache and input tensors must have the same dtype")
    require(_is_float(cache), "Cache tensor must be a floating point type")
    require(_is_integer(view.type("page_table").element_type), "Page table tensor must be an integer type")
    _verify_batch(view)
    blocks, rows = view.shape("cache"), view.shape("input")
    require(blocks[2] % 32 == 0, f"Block size must be divisible by 32, got {blocks[2]}")
    require(
        blocks[1] != 0 and rows[1] % blocks[1] == 0,  # in August the numbers must be equal
        "Input must have the same number of heads as the cache.",
    )
    require(rows[3] == blocks[3], "Input must have same head dimension as cache.")


def _verify_batch(view: View) -> None:
    batch = view.shape("input")[0]
    if not view.has("batch_idx_tensor"):
        count = "dynamic" if batch < 0 else batch
        require(batch == 1, f"Input batch must be statically 1 when no batch_idx_tensor is provided, got {count}")
        return
    indices = view.shape("batch_idx_tensor")
    require(len(indices) == 1, "Batch index tensor must be a 1D tensor")
    require(
        indices[0] == batch or min(indices[0], batch) < 0,
        f"Batch index tensor must have dim 0 equal to input batch ({batch}), got {indices[0]}",
    )
    require(_is_integer(view.type("batch_idx_tensor").element_type), "Batch index tensor must be an integer type")


def verify_sampling(op: Operation) -> None:
    """A batch of candidates, which is at most 32, and a number of each of its rows."""
    view = View(op)
    values, indices = view.shape("input_values"), view.shape("input_indices")
    require(len(values) in {2, 4}, "input_values must be 2D [batch, candidates] or 4D [1, 1, batch, candidates]")
    require(len(indices) == len(values), "input_indices rank must match input_values rank")
    require(values == indices, "input_values and input_indices must have the same shape")
    batch = values[-2]
    require(1 <= batch <= 32, f"batch ({batch}) must be in [1, 32] (kernel limit)")
    for name in ("k", "p", "temp"):
        shape = view.shape(name)
        require(len(shape) == 1, f"{name} must be 1D [batch]")
        require(shape[0] == batch, f"{name} batch dimension ({shape[0]}) must match input_values batch ({batch})")


def _is_float(element: Attribute) -> bool:
    """Whether an element is no integer: a float, or a tile, whose dtype other rules check."""
    return not isinstance(element, IntegerType)


def _is_integer(element: Attribute) -> bool:
    return isinstance(element, IntegerType)


ATTENTIONS = {
    **{
        f"{dialect}.{name}": (rule,)
        for dialect in ("ttir", "ttnn")
        for name, rule in {
            "chunked_scaled_dot_product_attention": verify_chunked_attention,
            "paged_fill_cache": verify_paged_fill,
        }.items()
    },
    "ttnn.sampling": (verify_sampling,),
}
