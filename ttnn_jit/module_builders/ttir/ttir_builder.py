"""The builder of TTIR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from xdsl.dialects import builtin

from ttnn_jit.module_builders.base.built_functions import FunctionBuilder
from ttnn_jit.module_builders.base.debug_methods import DebugMethods
from ttnn_jit.module_builders.base.method_signatures import MethodSignature
from ttnn_jit.module_builders.base.torch_types import TypeInfo, elements_of, type_of
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.mlir_values import OpResult, Value

_STATED = """
all_reduce: input cluster_axis reduce_type
all_reduce_async: input cluster_axis reduce_type
reduce_and: in0:input keep_dim dim_arg=None
reduce_or: in0:input dim_arg=None keep_dim=True
max: in0:input dim_arg=None keep_dim=True
min: in0:input dim_arg=None keep_dim=True
sum: in0:input dim_arg=None keep_dim=True
mean: in0:input dim_arg=None keep_dim=True
prod: in0:input dim_arg=None keep_dim=False
argmax: in0:input dim_arg=None keep_dim=False -> int32
arange: shape dtype start end step arange_dimension
ones: shape dtype
zeros: shape dtype
rand: size dtype low=0.0 high=1.0 seed=0
full: output_shape:shape output_type fill_value
constant: tensor:value
sort: in0:input dim=-1 descending=False stable=False -> , int64
where: in0:first in1:second in2:third -> second
embedding: in0:input in1:weight -> weight
embedding_backward: input weight in_gradient -> weight
scatter: in0:input index source dim scatter_reduce_type="invalid"
max_pool2d_with_indices: in0:input kernel stride dilation padding ceil_mode -> , int64
concat: ins:inputs dim=0
clamp_tensor: in0:input min_tensor:min max_tensor:max
clamp_scalar: in0:input min_arg:min max_arg:max
adamw: param grad exp_avg exp_avg_sq max_exp_avg_sq=None lr=1e-3 beta1=0.9 beta2=0.999 beta1_pow=0.9 beta2_pow=0.999 \
epsilon=1e-8 weight_decay=0.0 stochastic_rounding=False
batch_norm_inference: in0:operand scale offset mean variance epsilon=1e-5 dimension=1
batch_norm_training: in0:operand scale offset running_mean running_variance epsilon=1e-5 dimension=1 momentum=0.1
pad: in0:input padding value=0.0
slice=slice_static: in0:input begins ends step=None
typecast: in0:input output_type
get_dimension_size: in0:operand dimension=0 -> int32
gelu_backward=gelu_bw: grad:lhs input:rhs approximate="none"
is_finite=isfinite: in0:input
leaky_relu: in0:input parameter=0.01
softmax: in0:input dimension=1 numeric_stable:numericStable=False
transpose: in0:input dim0=0 dim1=1
repeat_interleave: in0:input repeats dim
fill_cache: in0:cache in1:input batch_offset=0
update_cache: in0:cache in1:input in2:update_index batch_offset=0
paged_update_cache: cache input update_index share_cache=False page_table=None
paged_scaled_dot_product_attention_decode: query key value page_table output is_causal=True attention_mask=None \
cur_pos_tensor=None attention_sink=None scale=None sliding_window_size=None
conv1d: in0:input weight bias stride padding dilation groups
conv2d: in0:input weight bias stride padding dilation groups
conv3d: in0:input weight bias stride padding groups padding_mode="zeros"
conv_transpose2d: in0:input weight bias stride padding output_padding dilation groups
select=index_select: in0:input dim=0 begin=0 length=2 stride=2
squeeze: in0:input dim=0
unsqueeze: in0:input dim=0
scaled_dot_product_attention: query key value attention_mask=None is_causal=True scale=None sliding_window_size=None \
attention_sink=None
scaled_dot_product_attention_decode: query key value cur_pos_tensor=None attention_mask=None is_causal=True scale=None
sparse_matmul: a b sparsity is_input_a_sparse=False is_input_b_sparse=True nnz=0
rms_norm: in0:input normalized_shape weight=None bias=None epsilon=1e-5
layer_norm: in0:input normalized_shape weight=None bias=None epsilon=1e-5
split_query_key_value_and_split_heads: input_tensor num_heads transpose_key=False kv_input_tensor=None \
num_kv_heads=None
distributed_rms_norm: input cluster_axis weight=None residual=None epsilon=1e-5
distributed_layer_norm: input cluster_axis weight=None bias=None residual=None epsilon=1e-5
topk: in0:input_tensor k dim=-1 largest=True sorted=True -> , int64
topk_router_gpt: in0:input in1:weight in2:bias k num_experts=128 -> int32,
group_norm: in0:input input_mask=None weight=None bias=None num_groups=1 epsilon=1e-5
sampling: input_values input_indices k p temp seed=None -> int32
paged_flash_multi_latent_attention_decode: query key value head_dim_v page_table is_causal=True attention_mask=None \
cur_pos_tensor=None attention_sink=None scale=None
all_to_all_dispatch: input_tensor expert_indices expert_mapping num_devices=2 cluster_axis=0 dispatched_shape=None \
dispatched_type=None metadata_shape=None metadata_type=None
all_to_all_dispatch_metadata: input_tensor expert_indices expert_scores expert_mapping num_devices=2 cluster_axis=0 \
dispatched_shape=None dispatched_type=None indices_shape=None indices_type=None scores_shape=None scores_type=None
all_to_all_combine: input_tensor expert_metadata expert_mapping num_devices=2 cluster_axis=0 num_experts_per_tok=4 \
output_shard_dim=2 output_shape=None
moe_expert_token_remap: topk_tensor expert_mapping expert_metadata reduction_size=32 mapping_shape=None \
mapping_type=None reduced_shape=None reduced_type=None
moe_compute: tilize_input_tensor tilize_expert_indices_tensor tilize_expert_scores_tensor tilize_expert_mapping_tensor \
w0 w1 w2 layer_id output_height_shard_dim intermediate_size cluster_axis output_shape=None output_type=None \
bias_0=None bias_1=None bias_2=None activation_function="silu"
upsample2d: in0:input in1:like scale_factor mode="nearest"
quantize: in0:input scale zero_point dtype
dequantize: in0:input scale zero_point dtype
requantize: in0:input scale zero_point dtype
""".replace("\\\n", "")
"""What the tables do not say: another order of parameters, their other names, defaults, element types of results."""
_SHAPED = {
    "ttir.arange": "shape",
    "ttir.ones": "shape",
    "ttir.zeros": "shape",
    "ttir.rand": "size",
    "ttir.full": "shape",
}
"""Operation without operands -> the parameter that is the shape of its result."""


class TTIRBuilder(DebugMethods, FunctionBuilder):
    """Makes modules of TTIR; a method per operation of the dialect."""

    DIALECT = "ttir"
    STATED = _STATED

    def adapted(self, signature: MethodSignature, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a method as the operation takes them."""
        given = super().adapted(signature, given)
        name = signature.operation
        if name in _SHAPED:
            dtype = given.get("dtype") or given.get("output_type") or torch.float32
            given["result_types"] = [self.tensor_type(given[_SHAPED[name]], dtype)]
        if given.get("nnz") == 0:  # no number is stated
            given["nnz"] = None
        if given.get("dim_arg", ()) is None:
            given["dim_arg"] = [*range(len(self.get_shape(given["input"])))]
        adapt = _ADAPTED.get(name)
        return given if adapt is None else {**given, **adapt(self, given)}

    def _in_kind_of(self, kind: Type, given: Mapping[str, Any], *names: str) -> dict[str, Any]:
        """Numbers as floats, or as integers for a type of integers."""
        number: Any = float if kind.held in _FLOATS else int
        return {name: number(given[name]) for name in names}

    def _reshaped(self, given: Mapping[str, Any], shape: Sequence[int]) -> dict[str, Any]:
        kind = given.get("output_type")
        return {"result_types": [self.tensor_type(shape, self.get_type(given["input"]) if kind is None else kind)]}

    def _broadcast(self, given: Mapping[str, Any]) -> dict[str, Any]:
        counts = zip(self.get_shape(given["input"]), given["broadcast_dimensions"], strict=True)
        return self._reshaped(given, [own * count for own, count in counts])

    def _reshape(self, given: Mapping[str, Any]) -> dict[str, Any]:
        whole = torch.empty(self.get_shape(given["input"]), device="meta")
        return self._reshaped(given, whole.reshape([*given["shape"]]).shape)

    def _constant(self, given: Mapping[str, Any]) -> dict[str, Any]:
        tensor = given["value"]
        return {"value": elements_of(tensor), "result_types": [self.tensor_type(tensor.shape, tensor.dtype)]}

    def topk(self, in0: Value, k: int, dim: int = -1, *args: Any, **kwargs: Any) -> OpResult:
        """The largest or smallest elements along a dimension; `topk_indices` has where they are."""
        values, _ = self._topk(in0, k, dim, *args, **kwargs)
        found: OpResult = values
        return found

    def topk_indices(self, topk_values: Value) -> OpResult:
        """Where the elements that `topk` gave are.

        Raises:
            TypeError: The value is none that `topk` gave.
        """
        owner = topk_values.owner
        if owner.name != "ttir.topk":
            raise TypeError(f"topk_indices takes what topk gave, and not a result of {owner.name}")
        found: OpResult = owner.results[1]
        return found

    def to_layout(self, in0: Value, output_type: Any, loc: Any = None, **trailing: Any) -> OpResult:
        """A tensor in the layout of a type."""
        target = self.emit("ttir.empty", {}, {}, types=[output_type], loc=loc, computes=False)
        operands = {"input": in0, "output": target}
        found: OpResult = self.emit(
            "ttir.to_layout", operands, {}, types=[output_type], loc=loc, computes=False, **trailing
        )
        golden = self._goldens.get(in0)
        if golden is not None:
            self._set_golden_tensor(found, golden)
        return found

    def tilize(self, in0: Value, output_type: Any, **trailing: Any) -> Any:
        """A tensor in a layout of tiles."""
        return self.to_layout(in0, output_type, **trailing)

    def untilize(self, in0: Value, output_type: Any, **trailing: Any) -> Any:
        """A tensor in a layout of rows."""
        return self.to_layout(in0, output_type, **trailing)


_FLOATS = {builtin.f16, builtin.bf16, builtin.f32, builtin.f64}


_ADAPTED: dict[str, Callable[[TTIRBuilder, Mapping[str, Any]], dict[str, Any]]] = {
    "ttir.full": lambda own, given: own._in_kind_of(given["result_types"][0].element_type, given, "fill_value"),
    "ttir.clamp_scalar": lambda own, given: own._in_kind_of(own.get_type(given["input"]), given, "min", "max"),
    "ttir.rand": lambda _, given: {"dtype": type_of(given["dtype"])},
    "ttir.constant": TTIRBuilder._constant,
    "ttir.slice_static": lambda _, given: {"step": given["step"] or [1] * len(given["begins"])},
    **dict.fromkeys(
        ("ttir.quantize", "ttir.dequantize", "ttir.requantize"), lambda _, given: {"output_type": _quantized(given)}
    ),
    "ttir.broadcast": TTIRBuilder._broadcast,
    "ttir.reshape": TTIRBuilder._reshape,
    "ttir.get_dimension_size": lambda own, _: {"result_types": [own.tensor_type([1], torch.int32)]},
    "ttir.embedding_backward": lambda _, given: {"result_types": [given["weight"].type]},
    "ttir.all_to_all_dispatch": lambda own, given: own.types_given(given, "dispatched", "metadata"),
    "ttir.all_to_all_dispatch_metadata": lambda own, given: own.types_given(given, "dispatched", "indices", "scores"),
    "ttir.all_to_all_combine": lambda own, given: own.types_given(given, "output"),
    "ttir.moe_expert_token_remap": lambda own, given: own.types_given(given, "mapping", "reduced"),
    "ttir.moe_compute": lambda own, given: own.types_given(given, "output"),
}
"""Operation -> the arguments that it changes, and the types of its results where operands do not say them."""


def _quantized(given: Mapping[str, Any]) -> Any:
    """The element type of a result that is quantized, or not any more."""
    dtype: torch.dtype = given["dtype"]
    is_plain = dtype.is_floating_point
    return dtype if is_plain else type_of(TypeInfo(dtype, given["scale"], given["zero_point"]))
