# GPT-2, which processes a prompt at once and then generates token by token, with caches of keys and values.
#
#     python -m ttnn_jit docs/examples/models/gpt2.py

from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight, preprocess_model_parameters


@dataclass(frozen=True)
class Config:
    n_layer: int = 2
    n_embd: int = 128
    n_head: int = 4
    vocab_size: int = 500
    n_positions: int = 64
    layer_norm_epsilon: float = 1e-5
    tokens: int = 4

    @property
    def head(self):
        return self.n_embd // self.n_head


SMALL = Config()
FULL = Config(12, 768, 12, 50257, 1024, tokens=8)


class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.n_head
        self.c_attn = torch.nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = torch.nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x, cache):
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.c_attn(x).chunk(3, -1)
        )
        if cache:
            key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=not cache)
        cache[:] = key, value
        return self.c_proj(attended.transpose(1, 2).flatten(2))


class Mlp(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = torch.nn.Linear(config.n_embd, 4 * config.n_embd)
        self.c_proj = torch.nn.Linear(4 * config.n_embd, config.n_embd)

    def forward(self, x):
        return self.c_proj(torch.nn.functional.gelu(self.c_fc(x)))


class Block(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = torch.nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = Attention(config)
        self.ln_2 = torch.nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = Mlp(config)

    def forward(self, x, cache):
        x = x + self.attn(self.ln_1(x), cache)
        return x + self.mlp(self.ln_2(x))


class Gpt2(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = torch.nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = torch.nn.Embedding(config.n_positions, config.n_embd)
        self.h = torch.nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = torch.nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)

    def forward(self, ids, positions, caches):
        x = self.wte(ids) + self.wpe(positions)
        for block, cache in zip(self.h, caches, strict=True):
            x = block(x, cache)
        return self.ln_f(x[:, -1:]) @ self.wte.weight.T

    def generate(self, ids, tokens):
        """The logits of every token that is generated after the prompt `ids`, tokens x vocabulary."""
        caches = [[] for _ in self.h]
        logits = [self(ids, torch.arange(ids.shape[1])[None], caches)]
        for position in range(ids.shape[1], ids.shape[1] + tokens - 1):
            token = logits[-1].argmax(-1)
            logits.append(self(token, torch.tensor([[position]]), caches))
        return torch.cat(logits, 1)[0]


def custom_preprocessor(model, name):
    parameters = {}
    if isinstance(model, torch.nn.Linear):
        parameters["weight"] = preprocess_linear_weight(model.weight, dtype=ttnn.bfloat8_b)
        parameters["bias"] = preprocess_linear_bias(model.bias, dtype=ttnn.bfloat16)
    return parameters


def init_kv_cache(config, device):
    empty = torch.zeros((1, config.n_head, config.n_positions, config.head))
    return [
        [
            ttnn.as_tensor(
                empty,
                dtype=ttnn.bfloat16,
                layout=ttnn.TILE_LAYOUT,
                device=device,
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
            )
            for _ in range(2)
        ]
        for _ in range(config.n_layer)
    ]


def mlp(x, *, parameters):
    x = ttnn.linear(x, parameters.c_fc.weight, bias=parameters.c_fc.bias, activation="gelu")
    return ttnn.linear(x, parameters.c_proj.weight, bias=parameters.c_proj.bias)


def embedded(ids, positions, *, parameters):
    embeds = ttnn.embedding(ids, parameters.wte.weight, layout=ttnn.TILE_LAYOUT)
    position_embeddings = ttnn.embedding(positions, parameters.wpe.weight, layout=ttnn.TILE_LAYOUT)
    x = ttnn.add(embeds, position_embeddings)
    return ttnn.unsqueeze_to_4D(x)


def head(config, x, *, parameters):
    x = ttnn.layer_norm(x, weight=parameters.ln_f.weight, bias=parameters.ln_f.bias, epsilon=config.layer_norm_epsilon)
    return ttnn.linear(x, parameters.lm_head, dtype=ttnn.bfloat16)


def normalized(config, x, parameters):
    return ttnn.layer_norm(x, weight=parameters.weight, bias=parameters.bias, epsilon=config.layer_norm_epsilon)


def prefill(config, ids, positions, kv_cache, *, parameters):
    """The logits after a prompt whose keys and values are written into the caches."""
    x = embedded(ids, positions, parameters=parameters)
    for (keys, values), block in zip(kv_cache, parameters.h, strict=True):
        fused = ttnn.linear(normalized(config, x, block.ln_1), block.attn.c_attn.weight, bias=block.attn.c_attn.bias)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads(
            fused,
            num_heads=config.n_head,
            num_kv_heads=config.n_head,
            transpose_k_heads=False,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        ttnn.deallocate(fused)
        ttnn.fill_cache(keys, key, 0)
        ttnn.fill_cache(values, value, 0)
        attended = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)
        attended = ttnn.experimental.nlp_concat_heads(attended)
        x = ttnn.add(x, ttnn.linear(attended, block.attn.c_proj.weight, bias=block.attn.c_proj.bias))
        x = ttnn.add(x, mlp(normalized(config, x, block.ln_2), parameters=block.mlp))
    last = x.shape[2]
    return head(config, ttnn.slice(x, (0, 0, last - 1, 0), (1, 1, last, config.n_embd)), parameters=parameters)


def decode(config, ids, positions, current_pos, kv_cache, *, parameters):
    """The logits after one token at `current_pos`."""
    x = embedded(ids, positions, parameters=parameters)
    for (keys, values), block in zip(kv_cache, parameters.h, strict=True):
        fused = ttnn.linear(normalized(config, x, block.ln_1), block.attn.c_attn.weight, bias=block.attn.c_attn.bias)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
            fused,
            num_heads=config.n_head,
            num_kv_heads=config.n_head,
            memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        )
        ttnn.deallocate(fused)
        ttnn.experimental.paged_update_cache(keys, key, update_idxs_tensor=current_pos, page_table=None)
        ttnn.experimental.paged_update_cache(values, value, update_idxs_tensor=current_pos, page_table=None)
        attended = ttnn.transformer.scaled_dot_product_attention_decode(
            query,
            keys,
            values,
            cur_pos_tensor=current_pos,
            scale=config.head**-0.5,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        attended = ttnn.reshape(attended, (1, 1, 1, config.n_embd))
        x = ttnn.add(x, ttnn.linear(attended, block.attn.c_proj.weight, bias=block.attn.c_proj.bias))
        x = ttnn.add(x, mlp(normalized(config, x, block.ln_2), parameters=block.mlp))
    return head(config, x, parameters=parameters)


def build(config, device, prompt=20, compiled=lambda function: function):
    """Functions that generate tokens on `device`, and in torch, after the same prompt."""
    torch.manual_seed(0)
    model = Gpt2(config).eval().requires_grad_(requires_grad=False)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=custom_preprocessor
    )
    lm_head = preprocess_linear_weight(model.wte.weight, dtype=ttnn.bfloat8_b)
    parameters.lm_head = ttnn.to_device(lm_head, device)
    ids = torch.randint(config.vocab_size, (1, prompt))
    kv_cache = init_kv_cache(config, device)
    prefill_prompt, decode_token = compiled(prefill), compiled(decode)

    def on_device(numbers, dtype=ttnn.uint32):
        return ttnn.from_torch(numbers, dtype=dtype, device=device)

    def run():
        positions = on_device(torch.arange(prompt)[None])
        logits = [prefill_prompt(config, on_device(ids), positions, kv_cache, parameters=parameters)]
        for position in range(prompt, prompt + config.tokens - 1):
            token = ttnn.argmax(ttnn.to_layout(logits[-1], ttnn.ROW_MAJOR_LAYOUT), dim=-1)
            token = ttnn.reshape(token, (1, 1))
            position_tensor = torch.tensor([position])
            logits.append(
                decode_token(
                    config,
                    token,
                    on_device(position_tensor[None]),
                    on_device(position_tensor, ttnn.int32),
                    kv_cache,
                    parameters=parameters,
                )
            )
        return ttnn.reshape(ttnn.concat(logits, dim=2), (config.tokens, config.vocab_size))

    return run, lambda: model.generate(ids, config.tokens)


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device)
    result, wanted = ttnn.to_torch(run()).float(), reference()
    correlation = ttnn.pearson_correlation_coefficient(wanted, result)
    print(f"tokens {result.argmax(-1).tolist()} of torch {wanted.argmax(-1).tolist()} {correlation=:.5f}")
    assert correlation > 0.99
    assert torch.equal(result.argmax(-1), wanted.argmax(-1))
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
