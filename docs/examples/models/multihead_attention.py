# Multi-head attention twice: operation by operation, and with fused projections, block floats and L1.
#
#     python -m ttnn_jit docs/examples/models/multihead_attention.py

from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight


@dataclass(frozen=True)
class Config:
    batch: int = 2
    sequence: int = 64
    heads: int = 4
    head: int = 32

    @property
    def hidden(self):
        return self.heads * self.head


SMALL = Config()
FULL = Config(6, 384, 16, 64)


class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.query = torch.nn.Linear(config.hidden, config.hidden)
        self.key = torch.nn.Linear(config.hidden, config.hidden)
        self.value = torch.nn.Linear(config.hidden, config.hidden)
        self.output = torch.nn.Linear(config.hidden, config.hidden)

    def forward(self, x, mask):
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.output(attended.transpose(1, 2).flatten(2))


def multi_head_attention(
    hidden_states,
    attention_mask,
    query_weight,
    query_bias,
    key_weight,
    key_bias,
    value_weight,
    value_bias,
    output_weight,
    output_bias,
    *,
    num_heads,
):
    fallback_reshape = ttnn.get_fallback_function(ttnn.reshape)

    batch_size, sequence_size, hidden_size = hidden_states.shape
    head_size = hidden_size // num_heads

    query = hidden_states @ query_weight
    query = query + query_bias
    query = ttnn.to_layout(query, layout=ttnn.ROW_MAJOR_LAYOUT)
    query = fallback_reshape(query, (batch_size, sequence_size, num_heads, head_size))
    query = ttnn.to_layout(query, layout=ttnn.TILE_LAYOUT)
    query = ttnn.permute(query, (0, 2, 1, 3))

    key = hidden_states @ key_weight
    key = key + key_bias
    key = ttnn.to_layout(key, layout=ttnn.ROW_MAJOR_LAYOUT)
    key = fallback_reshape(key, (batch_size, sequence_size, num_heads, head_size))
    key = ttnn.to_layout(key, layout=ttnn.TILE_LAYOUT)
    key = ttnn.permute(key, (0, 2, 3, 1))

    value = hidden_states @ value_weight
    value = value + value_bias
    value = ttnn.to_layout(value, layout=ttnn.ROW_MAJOR_LAYOUT)
    value = fallback_reshape(value, (batch_size, sequence_size, num_heads, head_size))
    value = ttnn.to_layout(value, layout=ttnn.TILE_LAYOUT)
    value = ttnn.permute(value, (0, 2, 1, 3))

    attention_scores = query @ key
    attention_scores = attention_scores * (1 / (head_size**0.5))
    attention_scores += attention_mask
    attention_probs = ttnn.softmax(attention_scores, dim=-1, numeric_stable=False)

    context_layer = attention_probs @ value
    context_layer = ttnn.permute(context_layer, (0, 2, 1, 3))
    context_layer = ttnn.to_layout(context_layer, layout=ttnn.ROW_MAJOR_LAYOUT)
    context_layer = fallback_reshape(context_layer, (batch_size, sequence_size, hidden_size))
    context_layer = ttnn.to_layout(context_layer, layout=ttnn.TILE_LAYOUT)

    self_output = context_layer @ output_weight
    return self_output + output_bias


def optimized_multi_head_attention(
    hidden_states,
    attention_mask,
    fused_qkv_weight,
    fused_qkv_bias,
    self_output_weight,
    self_output_bias,
    *,
    num_heads,
    num_cores_x=12,
):
    batch_size, _, hidden_size = hidden_states.shape
    head_size = hidden_size // num_heads
    core_grid = ttnn.CoreGrid(y=batch_size, x=num_cores_x)

    hidden_states = ttnn.to_layout(hidden_states, ttnn.TILE_LAYOUT)

    fused_qkv_output = ttnn.linear(
        hidden_states,
        fused_qkv_weight,
        bias=fused_qkv_bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        core_grid=core_grid,
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        fused_qkv_output, memory_config=ttnn.L1_MEMORY_CONFIG, num_heads=num_heads
    )
    ttnn.deallocate(fused_qkv_output)

    attention_scores = ttnn.matmul(
        query, key, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16, core_grid=core_grid
    )
    ttnn.deallocate(query)
    ttnn.deallocate(key)

    attention_probs = ttnn.transformer.attention_softmax_(
        attention_scores, attention_mask=attention_mask, head_size=head_size
    )

    context_layer = ttnn.matmul(
        attention_probs, value, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b, core_grid=core_grid
    )
    ttnn.deallocate(attention_probs)

    context_layer_after_concatenate_heads = ttnn.transformer.concatenate_heads(
        context_layer, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    ttnn.deallocate(context_layer)

    self_output = ttnn.linear(
        context_layer_after_concatenate_heads,
        self_output_weight,
        bias=self_output_bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=core_grid,
    )
    ttnn.deallocate(context_layer_after_concatenate_heads)
    return self_output


def build(config, device, compiled=lambda function: function):
    """Functions that run both forms on `device`, and torch's twice, on the same states."""
    torch.manual_seed(0)
    model = Attention(config).eval().requires_grad_(requires_grad=False)
    states = torch.randn((config.batch, config.sequence, config.hidden))
    mask = torch.randn((config.batch, 1, 1, config.sequence))

    def tiles(tensor, memory_config=ttnn.DRAM_MEMORY_CONFIG):
        tensor = tensor.to(torch.bfloat16)
        return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)

    hidden_states, attention_mask = tiles(states), tiles(mask)
    parts = (model.query, model.key, model.value, model.output)
    parameters = [each for part in parts for each in (tiles(part.weight.T), tiles(part.bias, ttnn.L1_MEMORY_CONFIG))]

    fused = [
        preprocess_linear_weight(torch.cat([part.weight for part in parts[:3]]), dtype=ttnn.bfloat16),
        preprocess_linear_bias(torch.cat([part.bias for part in parts[:3]]), dtype=ttnn.bfloat16),
        preprocess_linear_weight(model.output.weight, dtype=ttnn.bfloat16),
        preprocess_linear_bias(model.output.bias, dtype=ttnn.bfloat16),
    ]
    fused = [ttnn.to_device(each, device) for each in fused]
    plain = compiled(multi_head_attention)
    optimized = compiled(optimized_multi_head_attention)

    def run():
        first = plain(hidden_states, attention_mask, *parameters, num_heads=config.heads)
        second = optimized(hidden_states, attention_mask, *fused, num_heads=config.heads)
        return ttnn.concat([first, second], dim=0)

    return run, lambda: torch.cat([model(states, mask), model(states, mask)])


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device)
    results = ttnn.to_torch(run()).float().chunk(2)
    for form, result, wanted in zip(("plain", "optimized"), results, reference().chunk(2), strict=True):
        correlation = ttnn.pearson_correlation_coefficient(wanted, result)
        print(f"{form}: {result.shape=} {correlation=:.5f}")
        assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
