# Llama 3.2, token by token: rotary embeddings, grouped queries, a paged cache, weights in block floats.
#
#     python -m ttnn_jit docs/examples/models/llama.py

from dataclasses import dataclass

import torch
import ttnn


@dataclass(frozen=True)
class Config:
    n_layers: int = 2
    dim: int = 128
    n_heads: int = 4
    n_kv_heads: int = 2
    hidden_dim: int = 256
    vocab_size: int = 320
    norm_eps: float = 1e-5
    rope_theta: float = 500000.0
    block_size: int = 32
    blocks: int = 4
    tokens: int = 4
    dtype: torch.dtype = torch.float32

    @property
    def head_dim(self):
        return self.dim // self.n_heads


SMALL = Config()
FULL = Config(16, 2048, 32, 8, 8192, 128256, tokens=8, dtype=torch.bfloat16)
"""The full model has 1.2 billion parameters: 2.5 GB in torch's bfloat16, and 1 GB in block floats."""

ATTENTION, GATE_UP, DOWN = ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.bfloat8_b


def rounded(weight, dtype):
    """A weight rounded to block floats, so that both models have the same weights."""
    return ttnn.to_torch(ttnn.from_torch(weight.float(), dtype=dtype, layout=ttnn.TILE_LAYOUT)).to(weight.dtype)


def linear(config, inputs, outputs, dtype):
    layer = torch.nn.Linear(inputs, outputs, bias=False, dtype=config.dtype)
    layer.weight.data = rounded(layer.weight.data.T, dtype).T
    return layer


class RMSNorm(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.eps = config.norm_eps
        self.weight = torch.nn.Parameter((1 + 0.1 * torch.randn(config.dim)).to(config.dtype))

    def forward(self, x):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.eps)


def angles(config, positions):
    """Cosines and sines of positions x head, in pairs of channels."""
    frequencies = config.rope_theta ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
    phases = torch.outer(positions.float(), frequencies).repeat_interleave(2, -1)
    return torch.cos(phases), torch.sin(phases)


def rotated(x, cos, sin):
    pairs = x.unflatten(-1, (-1, 2))
    other = torch.stack([-pairs[..., 1], pairs[..., 0]], -1).flatten(-2)
    return x * cos.to(x.dtype) + other * sin.to(x.dtype)


class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        kv = config.n_kv_heads * config.head_dim
        self.wq = linear(config, config.dim, config.dim, ATTENTION)
        self.wk = linear(config, config.dim, kv, ATTENTION)
        self.wv = linear(config, config.dim, kv, ATTENTION)
        self.wo = linear(config, config.dim, config.dim, ATTENTION)

    def forward(self, x, position, cache):
        query, key, value = (
            part(x).unflatten(-1, (-1, self.config.head_dim)).transpose(1, 2) for part in (self.wq, self.wk, self.wv)
        )
        cos, sin = angles(self.config, torch.tensor([position]))
        query, key = rotated(query, cos, sin), rotated(key, cos, sin)
        if cache:
            key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
        cache[:] = key, value
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)
        return self.wo(attended.transpose(1, 2).flatten(2))


class FeedForward(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = linear(config, config.dim, config.hidden_dim, GATE_UP)
        self.w2 = linear(config, config.hidden_dim, config.dim, DOWN)
        self.w3 = linear(config, config.dim, config.hidden_dim, GATE_UP)

    def forward(self, x):
        return self.w2(torch.nn.functional.silu(self.w1(x)) * self.w3(x))


class Block(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(config), Attention(config)
        self.ffn_norm, self.feed_forward = RMSNorm(config), FeedForward(config)

    def forward(self, x, position, cache):
        x = x + self.attention(self.attention_norm(x), position, cache)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tok_embeddings = torch.nn.Embedding(config.vocab_size, config.dim, dtype=config.dtype)
        self.tok_embeddings.weight.data = rounded(self.tok_embeddings.weight.data, ttnn.bfloat8_b)
        self.layers = torch.nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = RMSNorm(config)

    def forward(self, token, position, caches):
        x = self.tok_embeddings(token)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, position, cache)
        return self.norm(x) @ self.tok_embeddings.weight.T

    def generate(self, prompt, tokens):
        """The logits after every token of the prompt and every generated one, tokens x vocabulary."""
        caches, logits = [[] for _ in self.layers], []
        for position in range(len(prompt) + tokens - 1):
            token = prompt[position][None, None] if position < len(prompt) else logits[-1].argmax(-1)
            logits.append(self(token, position, caches))
        return torch.cat(logits, 1)[0]


class TtRMSNorm:
    def __init__(self, config, device, norm):
        self.eps = config.norm_eps
        weight = norm.weight.view(1, 1, config.dim // 32, 32)
        self.weight = ttnn.as_tensor(
            weight,
            dtype=ttnn.bfloat16,
            layout=ttnn.ROW_MAJOR_LAYOUT,
            device=device,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        self.compute_kernel_config = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )

    def forward(self, x):
        return ttnn.rms_norm(x, epsilon=self.eps, weight=self.weight, compute_kernel_config=self.compute_kernel_config)


def tiles(weight, dtype, device):
    return ttnn.as_tensor(
        weight,
        dtype=dtype,
        layout=ttnn.TILE_LAYOUT,
        device=device,
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
        mesh_mapper=ttnn.ReplicateTensorToMesh(device),
    )


class TtAttention:
    def __init__(self, config, device, attention):
        self.config = config
        self.scale = config.head_dim**-0.5
        wqkv = torch.cat([part.weight.T for part in (attention.wq, attention.wk, attention.wv)], -1)
        self.wqkv = tiles(wqkv[None, None], ATTENTION, device)
        self.wo = tiles(attention.wo.weight.T[None, None], ATTENTION, device)
        cache = torch.zeros((config.blocks, config.n_kv_heads, config.block_size, config.head_dim))
        self.layer_past = [tiles(cache, ttnn.bfloat8_b, device) for _ in range(2)]
        self.sdpa_decode_progcfg = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), exp_approx_mode=False, q_chunk_size=0, k_chunk_size=0
        )
        self.compute_kernel_config_hifi2 = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )

    def forward_decode(self, x, current_pos, rot_mats, transformation_mat, page_table):
        config = self.config
        xqkv_fused = ttnn.linear(
            x,
            self.wqkv,
            memory_config=ttnn.L1_MEMORY_CONFIG,
            compute_kernel_config=self.compute_kernel_config_hifi2,
            dtype=ttnn.bfloat16,
        )
        ttnn.deallocate(x)
        q_unrotated, k_unrotated, v_heads = ttnn.experimental.nlp_create_qkv_heads_decode(
            xqkv_fused,
            num_heads=config.n_heads,
            num_kv_heads=config.n_kv_heads,
            memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        )
        ttnn.deallocate(xqkv_fused)

        q_heads = ttnn.experimental.rotary_embedding_llama(
            q_unrotated, rot_mats[0], rot_mats[1], transformation_mat, is_decode_mode=True
        )
        k_heads = ttnn.experimental.rotary_embedding_llama(
            k_unrotated, rot_mats[0], rot_mats[1], transformation_mat, is_decode_mode=True
        )
        ttnn.deallocate(q_unrotated)
        ttnn.deallocate(k_unrotated)

        keys, values = self.layer_past[0], self.layer_past[1]
        ttnn.experimental.paged_update_cache(keys, k_heads, update_idxs_tensor=current_pos, page_table=page_table)
        ttnn.experimental.paged_update_cache(values, v_heads, update_idxs_tensor=current_pos, page_table=page_table)
        ttnn.deallocate(k_heads)
        ttnn.deallocate(v_heads)

        attn_output = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            q_heads,
            keys,
            values,
            page_table_tensor=page_table,
            cur_pos_tensor=current_pos,
            scale=self.scale,
            program_config=self.sdpa_decode_progcfg,
            compute_kernel_config=self.compute_kernel_config_hifi2,
            memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        )
        ttnn.deallocate(q_heads)
        attn_output_cat = ttnn.experimental.nlp_concat_heads_decode(attn_output, num_heads=config.n_heads)
        ttnn.deallocate(attn_output)
        attn_output_cat = ttnn.to_memory_config(attn_output_cat, ttnn.L1_MEMORY_CONFIG)
        attn_output_cat = attn_output_cat[:, :, :1, :]

        dense_out = ttnn.linear(
            attn_output_cat,
            self.wo,
            memory_config=ttnn.L1_MEMORY_CONFIG,
            compute_kernel_config=self.compute_kernel_config_hifi2,
            dtype=ttnn.bfloat16,
        )
        ttnn.deallocate(attn_output_cat)
        return dense_out


class TtMLP:
    def __init__(self, device, feed_forward):
        self.w1 = tiles(feed_forward.w1.weight.T[None, None], GATE_UP, device)
        self.w2 = tiles(feed_forward.w2.weight.T[None, None], DOWN, device)
        self.w3 = tiles(feed_forward.w3.weight.T[None, None], GATE_UP, device)
        self.compute_kernel_config = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )

    def forward(self, x):
        w1_out = ttnn.linear(
            x,
            self.w1,
            dtype=ttnn.bfloat16,
            compute_kernel_config=self.compute_kernel_config,
            memory_config=ttnn.L1_MEMORY_CONFIG,
        )
        w3_out = ttnn.linear(
            x,
            self.w3,
            dtype=ttnn.bfloat16,
            compute_kernel_config=self.compute_kernel_config,
            memory_config=ttnn.L1_MEMORY_CONFIG,
        )
        ttnn.deallocate(x)
        w2_in = ttnn.multiply(
            w1_out,
            w3_out,
            input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
            dtype=ttnn.bfloat16,
            memory_config=w1_out.memory_config(),
        )
        ttnn.deallocate(w3_out)
        ttnn.deallocate(w1_out)
        w2_out = ttnn.linear(
            w2_in,
            self.w2,
            dtype=ttnn.bfloat16,
            compute_kernel_config=self.compute_kernel_config,
            memory_config=ttnn.L1_MEMORY_CONFIG,
        )
        ttnn.deallocate(w2_in)
        return w2_out


class TtTransformerBlock:
    def __init__(self, config, device, block):
        self.attention_norm = TtRMSNorm(config, device, block.attention_norm)
        self.attention = TtAttention(config, device, block.attention)
        self.ff_norm = TtRMSNorm(config, device, block.ffn_norm)
        self.feed_forward = TtMLP(device, block.feed_forward)

    def forward(self, x, current_pos, rot_mats, transformation_mat, page_table):
        attn_in = self.attention_norm.forward(x)
        attn_out = self.attention.forward_decode(attn_in, current_pos, rot_mats, transformation_mat, page_table)
        h = ttnn.add(x, attn_out, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
        ttnn.deallocate(attn_out)
        ff_out = self.feed_forward.forward(self.ff_norm.forward(h))
        out = ttnn.add(h, ff_out, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
        ttnn.deallocate(ff_out)
        return out


class TtTransformer:
    def __init__(self, config, device, model):
        self.config = config
        self.embedding = ttnn.as_tensor(
            model.tok_embeddings.weight, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device
        )
        self.layers = [TtTransformerBlock(config, device, layer) for layer in model.layers]
        self.norm = TtRMSNorm(config, device, model.norm)
        self.output = tiles(model.tok_embeddings.weight.T[None, None], ttnn.bfloat8_b, device)
        cos, sin = angles(config, torch.arange(config.blocks * config.block_size))
        self.cos, self.sin = (ttnn.from_torch(each, dtype=ttnn.bfloat16, device=device) for each in (cos, sin))
        rotation = torch.zeros((1, 1, 32, 32))
        rotation[..., torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
        rotation[..., torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1
        self.transformation_mat = ttnn.from_torch(rotation, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    def rotations(self, position):
        rows = (ttnn.embedding(position, table, layout=ttnn.TILE_LAYOUT) for table in (self.cos, self.sin))
        return [ttnn.reshape(each, (1, 1, 1, self.config.head_dim)) for each in rows]

    def forward(self, token, position, current_pos, page_table):
        rot_mats = self.rotations(position)
        x = ttnn.unsqueeze_to_4D(ttnn.embedding(token, self.embedding, layout=ttnn.TILE_LAYOUT))
        for layer in self.layers:
            x = layer.forward(x, current_pos, rot_mats, self.transformation_mat, page_table)
        x = self.norm.forward(x)
        return ttnn.linear(x, self.output, dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG)


def build(config, device, compiled=lambda function: function):
    """Functions that process a prompt and generate tokens on `device`, and in torch."""
    torch.manual_seed(0)
    model = Llama(config).eval().requires_grad_(requires_grad=False)
    tt_model = TtTransformer(config, device, model)
    prompt = torch.randint(config.vocab_size, (4,))
    pages = torch.randperm(config.blocks)[None]
    page_table = ttnn.from_torch(pages, dtype=ttnn.int32, device=device)
    forward = compiled(TtTransformer.forward)

    def run():
        logits = []
        for position in range(len(prompt) + config.tokens - 1):
            if position < len(prompt):
                token = ttnn.from_torch(prompt[position][None, None], dtype=ttnn.uint32, device=device)
            else:
                rows = ttnn.untilize(logits[-1], use_multicore=True)
                token = ttnn.reshape(ttnn.argmax(rows, dim=3, keepdim=True), (1, 1))
            position_tensor = torch.tensor([position])
            logits.append(
                forward(
                    tt_model,
                    token,
                    ttnn.from_torch(position_tensor[None], dtype=ttnn.uint32, device=device),
                    ttnn.from_torch(position_tensor, dtype=ttnn.int32, device=device),
                    page_table,
                )
            )
        return ttnn.reshape(ttnn.concat(logits, dim=2), (len(logits), config.vocab_size))

    return run, lambda: model.generate(prompt, config.tokens)


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
