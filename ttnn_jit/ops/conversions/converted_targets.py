"""Custom calls and composites with the names of operations that TTIR has.

Their attributes stand in a dictionary, as texts: ``mhlo.frontend_attributes = {is_causal = "True"}``. A composite is
executed as its decomposition; these declarations say which op of TTIR the pass makes of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.conversions import sharding_rules
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, RuleOfCall, conversion
from ttnn_jit.ops.families.sharding_rule import pointwise
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall
from ttnn_jit.ops.texts import text_operations

_DICTIONARIES = ("composite_attributes", "tt.composite_attributes", "mhlo.attributes", "mhlo.frontend_attributes")
ATTRIBUTES_OF_CALLS = (
    "call_target_name",
    "has_side_effect",
    "backend_config",
    "api_version",
    "called_computations",
    "operand_layouts",
    "result_layouts",
    "output_operand_aliases",
)
"""The attributes of a custom call of StableHLO."""
CALL: dict[str, Any] = dict.fromkeys((*_DICTIONARIES, *ATTRIBUTES_OF_CALLS, "name", "decomposition", "version"))


def _read(value: Any) -> Any:
    """A value of such a dictionary: of a text, what it spells."""
    if isinstance(value, DenseNumbers):
        return tuple(int(each) for each in value.numbers)
    if not isinstance(value, str):
        return value
    if value.lower() in {"true", "false"}:
        return value.lower() == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _of_json(config: Any) -> dict[str, Any] | None:
    """The attributes that a configuration spells; None of one in another language."""
    if isinstance(config, dict) or not config:
        return config or {}
    try:
        found = json.loads(config) if isinstance(config, str) else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def attributes_of_call(call: TextCall, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of `defaults` that a call has, or their defaults; they may be JSON in its ``backend_config``.

    Raises:
        ShapeError: It lacks an attribute, or may have it in a ``backend_config`` that is no JSON.
    """
    config = _of_json(vars(call).get("backend_config"))
    written = [config or {}, *(vars(call).get(key) or {} for key in _DICTIONARIES)]
    given = {name: _read(value) for each in written for name, value in each.items()}
    unknown = [name for name in defaults if name not in given]
    if config is None and unknown:
        raise ShapeError(f"`backend_config` is no JSON object, and may say `{unknown[0]}`")
    found = {name: given.get(name, default) for name, default in defaults.items()}
    for name, value in found.items():
        if value is REQUIRED:
            raise ShapeError(f"it needs the attribute `{name}`")
    if given.get("has_attention_sink") and not given.get("has_attention_mask", True):
        raise ShapeError("an attention sink without a mask is not read")
    return {name: value for name, value in found.items() if value is not None}


def _target(
    names: str,
    ttir: str,
    operands: str,
    *,
    order: str = "",
    indices: str = "",
    rounds: bool = False,
    rename: Callable[[dict[str, Any], int], dict[str, Any]] = lambda given, _: given,
    sharded_by: RuleOfCall | None = None,
    **defaults: Any,
) -> Conversion:
    """A call that is one op of TTIR.

    Args:
        names: The targets.
        ttir: The op.
        operands: Its operands in the order of the call.
        order: And in the order of the op; "" for the same.
        indices: Operands that are indices, by the names that they have in the op.
        rounds: Whether the op rounds values between its steps.
        rename: The attributes of the op, of those of the call and the number of its results.
        sharded_by: As that of `Conversion`.
        **defaults: Attributes and their defaults.
    """
    own = [each.rstrip("?") for each in (order or operands).split()]

    def given(call: TextCall) -> list[Any]:
        return [vars(call)[name] for name in own]

    def attributes(call: TextCall) -> dict[str, Any]:
        return rename(attributes_of_call(call, defaults), len(call.results))

    def convert(ops: TtirOps, call: ConversionCall) -> Any:
        return ops.results(ttir, given(call), call.results, **attributes(call))

    def golden(torch: Any, call: TextCall) -> Any:
        operation = text_operations()[ttir]
        present = [each for each in given(call) if each is not None]
        sizes = [int(each is not None) for each in given(call)]
        bound = operation.bound(present, sizes, attributes(call))
        return operation.golden(torch, TextCall(bound, call.results))

    spelled = " ".join(f"stablehlo.{kind}@{name}" for name in names.split() for kind in ("custom_call", "composite"))
    limits = {name: partial(limit_in, ttir, name) for name in indices.split()}
    made = conversion(spelled, operands, convert, golden, index_limits=limits, sharded_by=sharded_by, **CALL)
    return replace(made, golden=golden, rounds_intermediates=rounds)


_MASKS = ("none", "causal", "arbitrary")
"""The kinds of masks of attention, as composites number them."""


def _with_mask(given: dict[str, Any], _: int = 0) -> dict[str, Any]:
    """The attributes with the name of the kind of mask."""
    number = given["mask_type"]
    if number not in range(len(_MASKS)):
        raise ShapeError(f"`mask_type` is 0 to {len(_MASKS) - 1}, got {number}")
    return {**given, "mask_type": _MASKS[number]}


def limit_in(ttir: str, name: str, call: TextCall) -> int | None:
    """The number of values that an operand of indices may have, as the op of TTIR says it."""
    return text_operations()[ttir].index_limits[name](call)


def _indices_first(ops: TtirOps, call: ConversionCall) -> Tensor:
    index = ops.cast(call.index, "i32")
    kind = call.result
    return ops.op(
        "ttir.gather", [call.input, index], kind.shape, kind.element, **attributes_of_call(call, {"dim": REQUIRED})
    )


GATHER = conversion(
    "stablehlo.custom_call@tenstorrent.gather_dim stablehlo.composite@tenstorrent.gather_dim "
    "stablehlo.composite@tenstorrent.gather stablehlo.custom_call@tenstorrent.gather",
    "input index",
    _indices_first,
    lambda torch, call: torch.gather(call.input, attributes_of_call(call, {"dim": REQUIRED})["dim"], call.index.long()),
    index_limits={"index": lambda call: call.input.shape[attributes_of_call(call, {"dim": REQUIRED})["dim"]]},
    **CALL,
)


def _topk(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    given = attributes_of_call(call, _TOPK)
    values, indices = call.results
    return ops.results(
        "ttir.topk",
        [call.input],
        [values, Tensor(indices.shape, indices.element)],
        **{**given, "dim": given["dim"] % call.input.rank},
    )


_TOPK: dict[str, Any] = {"k": REQUIRED, "dim": -1, "largest": True, "sorted": True}


def _topk_in_torch(torch: Any, call: TextCall) -> Any:
    given = attributes_of_call(call, _TOPK)
    return torch.topk(call.input, given["k"], given["dim"], given["largest"], sorted=True)


def _elements(torch: Any, call: TextCall, results: Any) -> Any:
    values, index = results
    return values, torch.gather(call.input, attributes_of_call(call, _TOPK)["dim"], index.long())


TOPK = conversion(
    "stablehlo.custom_call@mhlo.topk stablehlo.custom_call@tenstorrent.topk stablehlo.composite@tenstorrent.topk",
    "input",
    _topk,
    _topk_in_torch,
    sharded_by=sharding_rules.kept_dimensions(
        lambda call, shape: (attributes_of_call(call, _TOPK)["dim"] % len(shape),)
    ),
    compared_elements=_elements,
    **CALL,
)
TOP_K = conversion(
    "chlo.top_k",
    "operand",
    lambda ops, call: ops.results(
        "ttir.topk", [call.operand], call.results, k=call.k, dim=call.operand.rank - 1, largest=True, sorted=True
    ),
    lambda torch, call: torch.topk(call.operand, call.k),
    sharded_by=sharding_rules.kept_dimensions(lambda _, shape: (len(shape) - 1,)),
    compared_elements=lambda torch, call, results: (results[0], torch.gather(call.operand, -1, results[1].long())),
    k=REQUIRED,
    is_stable=True,
)


def _unary(names: str, ttir: str) -> Conversion:
    return _target(names, ttir, "input", sharded_by=pointwise)


def _normalized_dimensions(call: ConversionCall, shape: Sequence[int]) -> Sequence[int]:
    """The last dimensions, along which a norm is computed."""
    return range(
        len(shape) - len(attributes_of_call(call, {"normalized_shape": REQUIRED})["normalized_shape"]), len(shape)
    )


_BY_ROWS = sharding_rules.kept_dimensions(_normalized_dimensions)


_RATES: dict[str, Any] = dict.fromkeys(
    ("lr", "beta1", "beta2", "beta1_pow", "beta2_pow", "epsilon", "weight_decay"), REQUIRED
)

TEXTS = (
    _unary("mhlo.erf", "ttir.erf"),
    _unary("mhlo.asinh", "ttir.asinh"),
    _target("tenstorrent.gelu", "ttir.gelu", "input", rename=lambda *_: {}, sharded_by=pointwise),
    *(
        _target(
            f"tenstorrent.{name}",
            f"ttir.{name}",
            "input weight? bias?",
            sharded_by=_BY_ROWS,
            normalized_shape=REQUIRED,
            epsilon=1e-5,
        )
        for name in ("rms_norm", "layer_norm")
    ),
    conversion(
        "mhlo.copy stablehlo.custom_call@tt.weight_dtype_override",
        "input",
        lambda _, call: call.input,
        lambda _, call: call.input,
        sharded_by=pointwise,
        moves=True,
        **CALL,
    ),
    replace(_target("tt.sampling", "ttir.sampling", "input_values input_indices k p temp", seed=0), is_random=True),
    _target("tt.fill_cache", "ttir.fill_cache", "cache input", batch_offset=0),
    _target("tt.update_cache", "ttir.update_cache", "cache input update_index", indices="update_index", batch_offset=0),
    _target(
        "tt.paged_update_cache",
        "ttir.paged_update_cache",
        "cache input update_index page_table?",
        indices="update_index page_table",
        share_cache=False,
    ),
    _target(
        "tt.paged_fill_cache",
        "ttir.paged_fill_cache",
        "cache input page_table batch_idx_tensor?",
        indices="page_table batch_idx_tensor",
    ),
    _target(
        "tt.scaled_dot_product_attention tenstorrent.scaled_dot_product_attention",
        "ttir.scaled_dot_product_attention",
        "query key value attention_mask? attention_sink?",
        rounds=True,
        sharded_by=sharding_rules.attended,
        is_causal=False,
        scale=None,
        sliding_window_size=None,
    ),
    _target(
        "tt.scaled_dot_product_attention_decode",
        "ttir.scaled_dot_product_attention_decode",
        "query key value cur_pos attention_mask? attention_sink?",
        order="query key value attention_mask? cur_pos attention_sink?",
        rounds=True,
        is_causal=False,
        scale=None,
    ),
    _target(
        "tt.paged_scaled_dot_product_attention_decode",
        "ttir.paged_scaled_dot_product_attention_decode",
        "query key value page_table cur_pos_tensor? attention_mask? attention_sink?",
        order="query key value page_table query attention_mask? cur_pos_tensor? attention_sink?",
        indices="page_table cur_pos_tensor",
        rounds=True,
        is_causal=True,
        scale=None,
        sliding_window_size=None,
    ),
    _target(
        "tt.chunked_scaled_dot_product_attention",
        "ttir.chunked_scaled_dot_product_attention",
        "query key value page_table chunk_start_idx",
        rounds=True,
        scale=None,
    ),
    _target(
        "tt.sparse_matmul",
        "ttir.sparse_matmul",
        "a b sparsity",
        is_input_a_sparse=False,
        is_input_b_sparse=True,
        nnz=None,
    ),
    _target(
        "tenstorrent.adamw",
        "ttir.adamw",
        "param grad exp_avg exp_avg_sq max_exp_avg_sq?",
        **_RATES,
        stochastic_rounding=False,
    ),
    _target(
        "tenstorrent.sdpa_fw",
        "ttir.sdpa_fw",
        "query key value attention_mask?",
        rename=lambda given, count: {**_with_mask(given, count), "return_intermediates": count == 2},
        mask_type=REQUIRED,
        dropout_probability=0.0,
    ),
    _target(
        "tenstorrent.sdpa_bw",
        "ttir.sdpa_bw",
        "grad_output attn_output query key value intermediates attention_mask?",
        rename=_with_mask,
        mask_type=REQUIRED,
        dropout_probability=0.0,
    ),
    GATHER,
    TOPK,
    TOP_K,
)
