"""Operations of experts: tokens that are sent to the devices of their experts, and routers that choose experts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, fail, require

_DISPATCH = {
    "input_tensor": "[B, S, 1, H]",
    "expert_indices": "[B, S, 1, K]",
    "expert_mapping": "[1, 1, E, D]",
    "dispatched output": "[1, B*D, S, H]",
    "metadata output": "[1, B*D, S, K]",
}
_METADATA = {
    "input_tensor": "[1, 1, M, H]",
    "expert_indices": "[1, 1, M, K]",
    "expert_scores": "[1, 1, M, K]",
    "expert_mapping": "[1, 1, D, E]",
    "dispatched output": "[1, tokens_global, H]",
    "indices output": "[1, tokens_global, K]",
    "scores output": "[1, tokens_global, K]",
}
_COMBINE = {
    "input_tensor": "[E_local, B*D, S, H]",
    "expert_metadata": "[1, B*D, S, K]",
    "expert_mapping": "[1, 1, E, D]",
    "result": "[K, B, S, H]",
}
_REMAP = {
    "topk_tensor": "[D, B, S, E]",
    "expert_mapping": "[1, 1, E, D]",
    "expert_metadata": "[D, B, S, K]",
    "mapping output": "[1, B, S, E_local]",
    "reduced output": "[1, 1, ceil(B*S/R), E_local]",
}


def _has_dimensions(dimensions: Mapping[str, str]) -> Callable[[Operation], None]:
    """The rule that operands and results have as many dimensions as are named."""

    def rule(op: Operation) -> None:
        view = View(op)
        for said, layout in dimensions.items():
            rank = layout.count(",") + 1
            found = len(view.shape(said.removesuffix(" output")))
            require(found == rank, f"{said} must be a {rank}D tensor {layout}")

    return rule


def verify_devices(op: Operation) -> None:
    """How many devices and experts, along which axis."""
    view = View(op)
    require(view.integer("num_devices") > 0, "num_devices must be positive")
    require(view.integer("cluster_axis") in {0, 1}, "cluster_axis must be 0 or 1")
    require(view.integer("num_experts_per_tok", 1) > 0, "num_experts_per_tok must be positive")
    dim = view.integer("output_shard_dim", 2)
    require(op.name.startswith("ttir.") or dim in {1, 2}, f"output_shard_dim must be 1 or 2, got {dim}")


def verify_remap(op: Operation) -> None:
    """How many tokens are reduced to one."""
    require(View(op).integer("reduction_size") > 0, "reduction_size must be positive")


def verify_compute(op: Operation) -> None:
    """The size between the layers of an expert."""
    size = View(op).integer("intermediate_size")
    require(size > 0 and size % 32 == 0, "intermediate_size must be a positive multiple of 32")


def verify_gpt(op: Operation) -> None:
    """The weights of a GPT's experts, as its kernel takes them."""
    view = View(op)
    first, second = view.shape("w0_w1_tensor"), view.shape("w2_tensor")
    for name, shape in (("w0_w1_tensor", first), ("w2_tensor", second)):
        require(len(shape) == 6, f"{name} must be a rank 6 tensor")
    for name, shape in (("w0_w1_tensor", first), ("w2_tensor", second)):
        require(shape[5] == 4 * 32, f"{name} dim[5] must be 128 (4*TILE_SIZE)")
    for dim, what in ((0, "num_cores"), (2, "experts_per_device")):
        require(first[dim] == second[dim], f"w0_w1_tensor and w2_tensor must have same dim[{dim}] ({what})")
    for name in ("expert_indices", "expert_scores"):
        require(len(view.shape(name)) >= 2, f"{name} must have rank >= 2")


def verify_router(op: Operation) -> None:
    """A router's batch, experts and how many of them it chooses."""
    view = View(op)
    experts, chosen = view.integer("num_experts"), view.integer("k")
    for name, layout in (("input", "[B, hidden_dim]"), ("weight", "[hidden_dim, num_experts]")):
        _require_two(view, name, layout)
    _require_two(view, "bias", "[B, num_experts]")
    (batch, hidden), weight, bias = view.shape("input"), view.shape("weight"), view.shape("bias")
    _require_extent("weight", 0, weight, f"input hidden_dim ({hidden})", hidden)
    _require_extent("bias", 0, bias, f"input batch size B ({batch})", batch)
    _require_extent("bias", 1, bias, f"weight num_experts ({weight[1]})", weight[1])
    require(experts > 0, f"num_experts must be positive, but got: {experts}")
    require(experts == weight[1], f"num_experts attribute ({experts}) must equal weight dim 1 ({weight[1]})")
    require(chosen > 0, f"k must be positive, but got: {chosen}")
    for name in ("expert_indices", "expert_weights"):
        _require_two(view, name, "[B, k]")
        _require_extent(name, 0, view.shape(name), f"input batch size B ({batch})", batch)
        _require_extent(name, 1, view.shape(name), f"k ({chosen})", chosen)


def _require_two(view: View, name: str, layout: str) -> None:
    if (rank := len(view.shape(name))) != 2:
        fail(f"{name} must be a 2D tensor {layout}, but got rank {rank}")


def _require_extent(name: str, dim: int, shape: list[int], what: str, extent: int) -> None:
    require(shape[dim] == extent, f"{name} dim {dim} ({shape[dim]}) must equal {what}")


EXPERTS = {
    f"{dialect}.{name}": rules
    for dialect in ("ttir", "ttnn")
    for name, rules in {
        "all_to_all_dispatch": (_has_dimensions(_DISPATCH), verify_devices),
        "all_to_all_dispatch_metadata": (
            _has_dimensions(_METADATA if dialect == "ttir" else {**_METADATA, "expert_mapping": "[D, E]"}),
            verify_devices,
        ),
        "moe_gpt": (verify_gpt,),
        "all_to_all_combine": (_has_dimensions(_COMBINE), verify_devices),
        "moe_expert_token_remap": (_has_dimensions(_REMAP), verify_remap),
        "moe_compute": (verify_compute,),
        "topk_router_gpt": (verify_router,),
    }.items()
}
