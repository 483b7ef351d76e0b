# BERT, an encoder that marks the start and the end of an answer in a text, with the parameters of a torch module.
#
#     python -m ttnn_jit docs/examples/models/bert.py

import math
from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_model_parameters


@dataclass(frozen=True)
class Config:
    num_hidden_layers: int = 2
    hidden_size: int = 128
    num_attention_heads: int = 4
    intermediate_size: int = 512
    vocab_size: int = 1000
    max_position_embeddings: int = 64
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12


SMALL = Config()
FULL = Config(12, 768, 12, 3072, 30522, 512)


class Embeddings(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = torch.nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = torch.nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = torch.nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, input_ids, token_type_ids, position_ids):
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        return self.LayerNorm(embeddings + self.position_embeddings(position_ids))


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


class Output(torch.nn.Module):
    def __init__(self, config, inner):
        super().__init__()
        self.dense = torch.nn.Linear(inner, config.hidden_size)
        self.LayerNorm = torch.nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x, residual):
        return self.LayerNorm(self.dense(x) + residual)


class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self = SelfAttention(config)
        self.output = Output(config, config.hidden_size)

    def forward(self, x, mask):
        return self.output(self.self(x, mask), x)


class Intermediate(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = torch.nn.Linear(config.hidden_size, config.intermediate_size)

    def forward(self, x):
        return torch.nn.functional.gelu(self.dense(x))


class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = Attention(config)
        self.intermediate = Intermediate(config)
        self.output = Output(config, config.intermediate_size)

    def forward(self, x, mask):
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = torch.nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))


class Bert(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.encoder = Encoder(config)
        self.qa_outputs = torch.nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, token_type_ids, position_ids, mask):
        x = self.embeddings(input_ids, token_type_ids, position_ids)
        for layer in self.encoder.layer:
            x = layer(x, mask)
        return self.qa_outputs(x)


def attention(config, hidden_states, attention_mask, *, parameters):
    fallback_reshape = ttnn.get_fallback_function(ttnn.reshape)
    batch, sequence, hidden = hidden_states.shape
    heads = config.num_attention_heads
    head = hidden // heads

    def split(part, order):
        x = hidden_states @ part.weight
        x = x + part.bias
        x = ttnn.to_layout(x, layout=ttnn.ROW_MAJOR_LAYOUT)
        x = fallback_reshape(x, (batch, sequence, heads, head))
        x = ttnn.to_layout(x, layout=ttnn.TILE_LAYOUT)
        return ttnn.permute(x, order)

    query = split(parameters.self.query, (0, 2, 1, 3))
    key = split(parameters.self.key, (0, 2, 3, 1))
    value = split(parameters.self.value, (0, 2, 1, 3))

    scores = query @ key
    scores = scores * (1 / math.sqrt(head))
    if attention_mask is not None:
        scores = scores + attention_mask
    probabilities = ttnn.softmax(scores, dim=-1)

    context = ttnn.permute(probabilities @ value, (0, 2, 1, 3))
    context = ttnn.to_layout(context, ttnn.ROW_MAJOR_LAYOUT)
    context = fallback_reshape(context, (batch, sequence, hidden))
    context = ttnn.to_layout(context, ttnn.TILE_LAYOUT)
    return output(config, context, hidden_states, parameters=parameters.output)


def output(config, hidden_states, residual, *, parameters):
    x = hidden_states @ parameters.dense.weight
    x = x + parameters.dense.bias
    return ttnn.layer_norm(
        x + residual,
        weight=parameters.LayerNorm.weight,
        bias=parameters.LayerNorm.bias,
        epsilon=config.layer_norm_eps,
    )


def layer(config, hidden_states, attention_mask, *, parameters):
    attended = attention(config, hidden_states, attention_mask, parameters=parameters.attention)
    grown = attended @ parameters.intermediate.dense.weight
    grown = grown + parameters.intermediate.dense.bias
    grown = ttnn.gelu(grown)
    return output(config, grown, attended, parameters=parameters.output)


def bert(config, input_ids, token_type_ids, position_ids, attention_mask, *, parameters):
    tables = parameters.embeddings
    inputs_embeds = ttnn.embedding(input_ids, tables.word_embeddings.weight, layout=ttnn.TILE_LAYOUT)
    types = ttnn.embedding(token_type_ids, tables.token_type_embeddings.weight, layout=ttnn.TILE_LAYOUT)
    positions = ttnn.embedding(position_ids, tables.position_embeddings.weight, layout=ttnn.TILE_LAYOUT)
    hidden_states = ttnn.layer_norm(
        inputs_embeds + types + positions,
        weight=tables.LayerNorm.weight,
        bias=tables.LayerNorm.bias,
        epsilon=config.layer_norm_eps,
    )
    for parameters_of_layer in parameters.encoder.layer:
        hidden_states = layer(config, hidden_states, attention_mask, parameters=parameters_of_layer)
    answers = hidden_states @ parameters.qa_outputs.weight
    return answers + parameters.qa_outputs.bias


def build(config, device, batch=2, sequence=64, compiled=lambda function: function):
    """Functions that run the model on `device`, and torch's, on the same tokens."""
    torch.manual_seed(0)
    model = Bert(config).eval()
    parameters = preprocess_model_parameters(initialize_model=lambda: model, device=device)

    input_ids = torch.randint(config.vocab_size, (batch, sequence))
    token_type_ids = (torch.arange(sequence) > sequence // 2).long().expand(batch, sequence)
    position_ids = torch.arange(sequence).expand(batch, sequence)
    kept = torch.arange(sequence) < torch.tensor([sequence - 5 * index for index in range(batch)])[:, None]
    mask = torch.where(kept, 0.0, -100000.0)[:, None, None, :]

    ids = [
        ttnn.from_torch(each, dtype=ttnn.uint32, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
        for each in (input_ids, token_type_ids, position_ids)
    ]
    ttnn_mask = ttnn.from_torch(mask, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    forward = compiled(bert)
    return (
        lambda: forward(config, *ids, ttnn_mask, parameters=parameters),
        lambda: model(input_ids, token_type_ids, position_ids, mask),
    )


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    with torch.no_grad():
        correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
