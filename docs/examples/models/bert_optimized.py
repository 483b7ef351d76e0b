# BERT optimised for speed: one product for query, key and value, weights in block floats, activations in L1.
#
#     python -m ttnn_jit docs/examples/models/bert_optimized.py

from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight, preprocess_model_parameters


@dataclass(frozen=True)
class Config:
    num_hidden_layers: int = 2
    hidden_size: int = 128
    num_attention_heads: int = 4
    intermediate_size: int = 512
    vocab_size: int = 1000
    max_position_embeddings: int = 64
    layer_norm_eps: float = 1e-12


SMALL = Config()
FULL = Config(12, 768, 12, 3072, 30522, 512)


class SelfAttention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.query = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.key = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.value = torch.nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x, mask):
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return attended.transpose(1, 2).flatten(2)


class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, eps = config.hidden_size, config.layer_norm_eps
        self.attention = SelfAttention(config)
        self.attention_output = torch.nn.Linear(hidden, hidden)
        self.attention_norm = torch.nn.LayerNorm(hidden, eps=eps)
        self.intermediate = torch.nn.Linear(hidden, config.intermediate_size)
        self.output = torch.nn.Linear(config.intermediate_size, hidden)
        self.output_norm = torch.nn.LayerNorm(hidden, eps=eps)

    def forward(self, x, mask):
        x = self.attention_norm(self.attention_output(self.attention(x, mask)) + x)
        return self.output_norm(self.output(torch.nn.functional.gelu(self.intermediate(x))) + x)


class Bert(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = torch.nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.embeddings_norm = torch.nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layer = torch.nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.qa_outputs = torch.nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, position_ids, mask):
        x = self.embeddings_norm(self.word_embeddings(input_ids) + self.position_embeddings(position_ids))
        for layer in self.layer:
            x = layer(x, mask)
        return self.qa_outputs(x)


def custom_preprocessor(torch_model, name):
    parameters = {}
    if isinstance(torch_model, SelfAttention):
        parts = (torch_model.query, torch_model.key, torch_model.value)
        weight = torch.cat([part.weight for part in parts], dim=0)
        bias = torch.cat([part.bias for part in parts], dim=0)
        parameters = {"fused_qkv": {}}
        parameters["fused_qkv"]["weight"] = preprocess_linear_weight(weight, dtype=ttnn.bfloat8_b)
        parameters["fused_qkv"]["bias"] = preprocess_linear_bias(bias, dtype=ttnn.bfloat8_b)
    elif isinstance(torch_model, torch.nn.Linear):
        parameters["weight"] = preprocess_linear_weight(torch_model.weight, dtype=ttnn.bfloat8_b)
        parameters["bias"] = preprocess_linear_bias(torch_model.bias, dtype=ttnn.bfloat8_b)
    return parameters


def bert_attention(config, hidden_states, attention_mask, *, parameters, num_cores_x=12):
    num_heads = config.num_attention_heads
    batch_size, _, hidden_size = hidden_states.shape
    head_size = hidden_size // num_heads
    core_grid = ttnn.CoreGrid(y=batch_size, x=num_cores_x)

    query_key_value_output = ttnn.linear(
        hidden_states,
        parameters.attention.fused_qkv.weight,
        bias=parameters.attention.fused_qkv.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        core_grid=core_grid,
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        query_key_value_output, num_heads=num_heads, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    ttnn.deallocate(query_key_value_output)

    attention_scores = ttnn.matmul(
        query, key, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16, core_grid=core_grid
    )
    ttnn.deallocate(query)
    ttnn.deallocate(key)
    attention_probabilities = ttnn.transformer.attention_softmax_(
        attention_scores, attention_mask=attention_mask, head_size=head_size
    )
    context_layer = ttnn.matmul(
        attention_probabilities, value, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b, core_grid=core_grid
    )
    ttnn.deallocate(attention_probabilities)
    context_layer = ttnn.transformer.concatenate_heads(context_layer, memory_config=ttnn.L1_MEMORY_CONFIG)

    self_output = ttnn.linear(
        context_layer,
        parameters.attention_output.weight,
        bias=parameters.attention_output.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=core_grid,
    )
    ttnn.deallocate(context_layer)
    attention_output = ttnn.layer_norm(
        hidden_states,
        residual_input_tensor=self_output,
        weight=parameters.attention_norm.weight,
        bias=parameters.attention_norm.bias,
        epsilon=config.layer_norm_eps,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    ttnn.deallocate(hidden_states)
    ttnn.deallocate(self_output)
    return attention_output


def bert_feedforward(config, hidden_states, *, parameters, num_cores_x=12):
    batch_size, *_ = hidden_states.shape
    core_grid = ttnn.CoreGrid(y=batch_size, x=num_cores_x)
    intermediate = ttnn.linear(
        hidden_states,
        parameters.intermediate.weight,
        bias=parameters.intermediate.bias,
        activation="gelu",
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        core_grid=core_grid,
    )
    output = ttnn.linear(
        intermediate,
        parameters.output.weight,
        bias=parameters.output.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=core_grid,
    )
    ttnn.deallocate(intermediate)
    normalized = ttnn.layer_norm(
        output,
        residual_input_tensor=hidden_states,
        weight=parameters.output_norm.weight,
        bias=parameters.output_norm.bias,
        epsilon=config.layer_norm_eps,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    ttnn.deallocate(output)
    ttnn.deallocate(hidden_states)
    return normalized


def bert(config, input_ids, position_ids, attention_mask, *, parameters):
    inputs_embeds = ttnn.embedding(
        input_ids, parameters.word_embeddings.weight, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    positions = ttnn.embedding(
        position_ids,
        parameters.position_embeddings.weight,
        layout=ttnn.TILE_LAYOUT,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    embeddings = ttnn.add(inputs_embeds, positions, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(inputs_embeds)
    ttnn.deallocate(positions)
    hidden_states = ttnn.layer_norm(
        embeddings,
        weight=parameters.embeddings_norm.weight,
        bias=parameters.embeddings_norm.bias,
        epsilon=config.layer_norm_eps,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    ttnn.deallocate(embeddings)
    for layer in parameters.layer:
        attended = bert_attention(config, hidden_states, attention_mask, parameters=layer)
        hidden_states = bert_feedforward(config, attended, parameters=layer)
    return ttnn.linear(
        hidden_states,
        parameters.qa_outputs.weight,
        bias=parameters.qa_outputs.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
    )


def build(config, device, batch=2, sequence=64, compiled=lambda function: function):
    """Functions that run the model on `device`, and torch's, on the same tokens."""
    torch.manual_seed(0)
    model = Bert(config).eval().requires_grad_(requires_grad=False)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=custom_preprocessor
    )
    input_ids = torch.randint(config.vocab_size, (batch, sequence))
    position_ids = torch.arange(sequence).expand(batch, sequence)
    kept = torch.arange(sequence) < torch.tensor([sequence - 5 * index for index in range(batch)])[:, None]
    mask = torch.where(kept, 0.0, -100000.0)[:, None, None, :]

    ids = [
        ttnn.from_torch(each, dtype=ttnn.uint32, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
        for each in (input_ids, position_ids)
    ]
    ttnn_mask = ttnn.from_torch(mask, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    forward = compiled(bert)
    return (
        lambda: forward(config, *ids, ttnn_mask, parameters=parameters),
        lambda: model(input_ids, position_ids, mask),
    )


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.99
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
