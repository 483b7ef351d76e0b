# Whisper: an encoder of sound with two convolutions, and a decoder that attends to its output and to its own tokens.
#
#     python -m ttnn_jit docs/examples/models/whisper.py

from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight, preprocess_model_parameters

WHISPER_MEMORY_CONFIG = ttnn.DRAM_MEMORY_CONFIG


@dataclass(frozen=True)
class Config:
    d_model: int = 64
    attention_heads: int = 2
    encoder_layers: int = 2
    decoder_layers: int = 2
    num_mel_bins: int = 16
    frames: int = 64
    vocab_size: int = 100
    tokens: int = 8

    @property
    def head(self):
        return self.d_model // self.attention_heads


SMALL = Config()
FULL = Config(512, 8, 6, 6, 80, 3000, 51865, tokens=32)


class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.attention_heads
        self.q_proj = torch.nn.Linear(config.d_model, config.d_model)
        self.k_proj = torch.nn.Linear(config.d_model, config.d_model, bias=False)
        self.v_proj = torch.nn.Linear(config.d_model, config.d_model)
        self.out_proj = torch.nn.Linear(config.d_model, config.d_model)

    def forward(self, x, states=None, is_causal=False):
        states = x if states is None else states
        query, key, value = (
            part(given).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part, given in ((self.q_proj, x), (self.k_proj, states), (self.v_proj, states))
        )
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
        return self.out_proj(attended.transpose(1, 2).flatten(2))


class Layer(torch.nn.Module):
    def __init__(self, config, is_decoder):
        super().__init__()
        self.self_attn = Attention(config)
        self.self_attn_layer_norm = torch.nn.LayerNorm(config.d_model)
        if is_decoder:
            self.encoder_attn = Attention(config)
            self.encoder_attn_layer_norm = torch.nn.LayerNorm(config.d_model)
        self.fc1 = torch.nn.Linear(config.d_model, 4 * config.d_model)
        self.fc2 = torch.nn.Linear(4 * config.d_model, config.d_model)
        self.final_layer_norm = torch.nn.LayerNorm(config.d_model)

    def forward(self, x, states=None):
        x = x + self.self_attn(self.self_attn_layer_norm(x), is_causal=states is not None)
        if states is not None:
            x = x + self.encoder_attn(self.encoder_attn_layer_norm(x), states)
        return x + self.fc2(torch.nn.functional.gelu(self.fc1(self.final_layer_norm(x))))


class Encoder(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.conv1 = torch.nn.Conv1d(config.num_mel_bins, config.d_model, 3, padding=1)
        self.conv2 = torch.nn.Conv1d(config.d_model, config.d_model, 3, stride=2, padding=1)
        self.embed_positions = torch.nn.Embedding(config.frames // 2, config.d_model)
        self.layers = torch.nn.ModuleList(Layer(config, is_decoder=False) for _ in range(config.encoder_layers))
        self.layer_norm = torch.nn.LayerNorm(config.d_model)

    def forward(self, sound):
        x = torch.nn.functional.gelu(self.conv1(sound))
        x = torch.nn.functional.gelu(self.conv2(x)).transpose(1, 2) + self.embed_positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.layer_norm(x)


class Decoder(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(config.vocab_size, config.d_model)
        self.embed_positions = torch.nn.Embedding(config.tokens, config.d_model)
        self.layers = torch.nn.ModuleList(Layer(config, is_decoder=True) for _ in range(config.decoder_layers))
        self.layer_norm = torch.nn.LayerNorm(config.d_model)

    def forward(self, tokens, states):
        x = self.embed_tokens(tokens) + self.embed_positions.weight
        for layer in self.layers:
            x = layer(x, states)
        return self.layer_norm(x)


class Whisper(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder, self.decoder = Encoder(config), Decoder(config)

    def forward(self, sound, tokens):
        return self.decoder(tokens, self.encoder(sound)) @ self.decoder.embed_tokens.weight.T


def custom_preprocessor(torch_model, name):
    parameters = {}
    if isinstance(torch_model, Attention):
        no_bias = torch.zeros(torch_model.k_proj.weight.shape[0])
        weights = [torch_model.k_proj.weight, torch_model.v_proj.weight]
        biases = [no_bias, torch_model.v_proj.bias]
        fused = "key_value"
        if "encoder_attn" in name:
            parameters["q_proj"] = {
                "weight": preprocess_linear_weight(torch_model.q_proj.weight, dtype=ttnn.bfloat16),
                "bias": preprocess_linear_bias(torch_model.q_proj.bias, dtype=ttnn.bfloat16),
            }
        else:
            weights.insert(0, torch_model.q_proj.weight)
            biases.insert(0, torch_model.q_proj.bias)
            fused = "query_key_value"
        parameters[fused] = {
            "weight": preprocess_linear_weight(torch.cat(weights), dtype=ttnn.bfloat16),
            "bias": preprocess_linear_bias(torch.cat(biases), dtype=ttnn.bfloat16),
        }
        parameters["out_proj"] = {
            "weight": preprocess_linear_weight(torch_model.out_proj.weight, dtype=ttnn.bfloat16),
            "bias": preprocess_linear_bias(torch_model.out_proj.bias, dtype=ttnn.bfloat16),
        }
    elif isinstance(torch_model, torch.nn.Embedding):
        layout = ttnn.TILE_LAYOUT if "positions" in name else ttnn.ROW_MAJOR_LAYOUT
        parameters["weight"] = ttnn.from_torch(torch_model.weight, dtype=ttnn.bfloat16, layout=layout)
    elif isinstance(torch_model, torch.nn.Conv1d):
        parameters["weight"] = ttnn.from_torch(torch_model.weight, dtype=ttnn.bfloat16)
        parameters["bias"] = ttnn.from_torch(torch_model.bias.reshape(1, 1, 1, -1), dtype=ttnn.bfloat16)
    return parameters


def calculate_key_values(config, key_value_states, *, parameters):
    bsz, tgt_len, hidden_size = key_value_states.shape
    fused_kv = key_value_states @ parameters.key_value.weight + parameters.key_value.bias
    fused_kv = ttnn.unsqueeze_to_4D(fused_kv)

    key_states = fused_kv[:, :, :, :hidden_size]
    key_states = ttnn.transpose(key_states, 2, 3)
    key_states = ttnn.reshape(key_states, (bsz, config.attention_heads, config.head, tgt_len))

    value_states = fused_kv[:, :, :, hidden_size:]
    value_states = ttnn.transpose(value_states, 1, 2)
    value_states = ttnn.reshape(value_states, (bsz, tgt_len, config.attention_heads, config.head))
    value_states = ttnn.transpose(value_states, 1, 2)
    return key_states, value_states


def functional_sdpa(query_states, key_states, value_states, scaling, attention_mask):
    query_states *= scaling
    attn_weights = query_states @ key_states
    if attention_mask is not None:
        attn_weights = attn_weights + attention_mask
    attn_weights = ttnn.softmax(attn_weights, dim=-1, memory_config=WHISPER_MEMORY_CONFIG)
    return attn_weights @ value_states


def whisper_attention(config, hidden_states, attention_mask, encoder_hidden_states=None, *, parameters):
    scaling = config.head**-0.5
    bsz, *_, tgt_len, _ = hidden_states.shape
    if encoder_hidden_states is not None:
        query_states = hidden_states @ parameters.q_proj.weight + parameters.q_proj.bias
        query_states = ttnn.unsqueeze_to_4D(query_states)
        query_states = ttnn.transpose(query_states, 1, 2)
        query_states = ttnn.reshape(query_states, (bsz, tgt_len, config.attention_heads, config.head))
        query_states = ttnn.transpose(query_states, 1, 2)
        key_states, value_states = calculate_key_values(config, encoder_hidden_states, parameters=parameters)
    else:
        fused_qkv = hidden_states @ parameters.query_key_value.weight + parameters.query_key_value.bias
        fused_qkv = ttnn.unsqueeze_to_4D(fused_qkv)
        query_states, key_states, value_states = ttnn.experimental.nlp_create_qkv_heads(
            fused_qkv,
            num_heads=config.attention_heads,
            num_kv_heads=config.attention_heads,
            transpose_k_heads=True,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
    attn_output = functional_sdpa(query_states, key_states, value_states, scaling, attention_mask)
    attn_output = ttnn.experimental.nlp_concat_heads(attn_output)
    attn_output = ttnn.squeeze(attn_output, 0)
    attn_output = attn_output[:, :tgt_len, :]
    return attn_output @ parameters.out_proj.weight + parameters.out_proj.bias


def normalized(hidden_states, parameters):
    return ttnn.layer_norm(
        hidden_states,
        weight=parameters.weight,
        bias=parameters.bias,
        epsilon=1e-5,
        memory_config=WHISPER_MEMORY_CONFIG,
    )


def feed_forward(hidden_states, *, parameters):
    residual = hidden_states
    hidden_states = normalized(hidden_states, parameters.final_layer_norm)
    hidden_states = hidden_states @ parameters.fc1.weight + parameters.fc1.bias
    hidden_states = ttnn.gelu(hidden_states, memory_config=WHISPER_MEMORY_CONFIG)
    hidden_states = hidden_states @ parameters.fc2.weight + parameters.fc2.bias
    return residual + hidden_states


def encoder(config, inputs_embeds, *, parameters):
    hidden_states = inputs_embeds + parameters.embed_positions.weight
    for layer in parameters.layers:
        attended = normalized(hidden_states, layer.self_attn_layer_norm)
        attended = whisper_attention(config, attended, None, parameters=layer.self_attn)
        hidden_states = hidden_states + attended
        hidden_states = feed_forward(hidden_states, parameters=layer)
    return normalized(hidden_states, parameters.layer_norm)


def decoder(config, hidden_states, decoder_attention_mask, encoder_hidden_states, *, parameters):
    for layer in parameters.layers:
        attended = normalized(hidden_states, layer.self_attn_layer_norm)
        attended = whisper_attention(config, attended, decoder_attention_mask, parameters=layer.self_attn)
        hidden_states = hidden_states + attended
        attended = normalized(hidden_states, layer.encoder_attn_layer_norm)
        attended = whisper_attention(config, attended, None, encoder_hidden_states, parameters=layer.encoder_attn)
        hidden_states = hidden_states + attended
        hidden_states = feed_forward(hidden_states, parameters=layer)
    return normalized(hidden_states, parameters.layer_norm)


def preprocess_encoder_inputs(config, input_features, conv1, conv2, *, device):
    """The two convolutions over sound of batch x frames x bins."""
    conv1d_config = ttnn.Conv1dConfig(weights_dtype=ttnn.bfloat16, shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    conv1d_compute_config = ttnn.init_device_compute_kernel_config(
        device.arch(), math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=False, packer_l1_acc=False
    )

    def conv1d(x, parameters, in_channels, length, stride):
        return ttnn.conv1d(
            input_tensor=x,
            weight_tensor=parameters.weight,
            bias_tensor=parameters.bias,
            device=device,
            in_channels=in_channels,
            out_channels=config.d_model,
            batch_size=input_features.shape[0],
            input_length=length,
            kernel_size=3,
            stride=stride,
            padding=1,
            groups=1,
            dtype=ttnn.bfloat16,
            conv_config=conv1d_config,
            compute_config=conv1d_compute_config,
            return_output_dim=False,
        )

    x = ttnn.gelu(conv1d(input_features, conv1, config.num_mel_bins, config.frames, 1))
    x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
    x = ttnn.gelu(conv1d(x, conv2, config.d_model, config.frames, 2))
    x = ttnn.sharded_to_interleaved(x) if x.is_sharded() else x
    x = ttnn.reshape(x, (input_features.shape[0], config.frames // 2, config.d_model))
    return ttnn.to_layout(x, ttnn.TILE_LAYOUT)


def whisper(config, inputs_embeds, tokens, decoder_attention_mask, *, parameters):
    encoder_hidden_states = encoder(config, inputs_embeds, parameters=parameters.encoder)
    hidden_states = ttnn.embedding(tokens, parameters.decoder.embed_tokens.weight, layout=ttnn.TILE_LAYOUT)
    hidden_states = hidden_states + parameters.decoder.embed_positions.weight
    hidden_states = decoder(
        config, hidden_states, decoder_attention_mask, encoder_hidden_states, parameters=parameters.decoder
    )
    return hidden_states @ parameters.lm_head


def build(config, device, compiled=lambda function: function):
    """Functions that transcribe sound on `device`, and in torch."""
    torch.manual_seed(0)
    model = Whisper(config).eval().requires_grad_(requires_grad=False)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=custom_preprocessor
    )
    lm_head = preprocess_linear_weight(model.decoder.embed_tokens.weight, dtype=ttnn.bfloat16)
    parameters.lm_head = ttnn.to_device(lm_head, device)
    convs = [parameters.encoder.pop(name) for name in ("conv1", "conv2")]
    for conv in convs:
        conv.weight, conv.bias = ttnn.from_device(conv.weight), ttnn.from_device(conv.bias)
    sound = torch.randn(1, config.num_mel_bins, config.frames)
    tokens = torch.randint(config.vocab_size, (1, config.tokens))
    features = ttnn.from_torch(sound.transpose(1, 2).contiguous(), dtype=ttnn.bfloat16, device=device)
    ids = ttnn.from_torch(tokens, dtype=ttnn.uint32, device=device)
    causal = torch.full((1, 1, config.tokens, config.tokens), torch.finfo(torch.bfloat16).min).triu(1)
    mask = ttnn.from_torch(causal, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    forward = compiled(whisper)

    def run():
        embeds = preprocess_encoder_inputs(config, features, *convs, device=device)
        return forward(config, embeds, ids, mask, parameters=parameters)

    return run, lambda: model(sound, tokens)


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=1024)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.99
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
