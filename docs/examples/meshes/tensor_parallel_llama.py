# Llama, token by token, on meshes: heads and hidden channels are split along one axis, users along the other.
#
# Activations are split between the layers too, so norms exchange their sums of squares. The torch model is that of
# docs/examples/models/llama.py.
#
#     python -m ttnn_jit docs/examples/meshes/tensor_parallel_llama.py

import sys
from dataclasses import replace
from pathlib import Path

import torch
import ttnn

sys.path.append(str(Path(__file__).parents[1] / "models"))

from llama import ATTENTION, DOWN, GATE_UP, SMALL, Llama, angles

CONFIG = replace(SMALL, dim=256, n_heads=8, n_kv_heads=8, hidden_dim=512, vocab_size=512)
MESHES = [(1, 2), (1, 8), (2, 4)]


class CCL:
    """Collectives along the axis that the model is split along, with semaphores used in turn."""

    def __init__(self, mesh_device):
        self.mesh_device = mesh_device
        grid = mesh_device.compute_with_storage_grid_size()
        cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(grid.x - 1, grid.y - 1))})

        def handles(count):
            return [ttnn.create_global_semaphore(mesh_device, cores, 0) for _ in range(count)]

        self.gathering, self.scattering, self.barriers = handles(2), handles(3), handles(2)
        self.calls = 0

    def options(self):
        self.calls += 1
        return {
            "barrier_semaphore": self.barriers[self.calls % 2],
            "num_links": 1,
            "cluster_axis": 1,
            "topology": ttnn.Topology.Linear,
            "memory_config": ttnn.DRAM_MEMORY_CONFIG,
        }

    def all_gather(self, x):
        return ttnn.experimental.all_gather_async(
            x,
            persistent_output_buffer=None,
            dim=3,
            multi_device_global_semaphore=self.gathering,
            **self.options(),
        )

    def reduce_scatter(self, x):
        return ttnn.experimental.reduce_scatter_minimal_async(
            x,
            persistent_output_buffers=None,
            dim=3,
            multi_device_global_semaphore=self.scattering,
            **self.options(),
        )


def split(weight, dim, mesh_device, dtype, layout=ttnn.TILE_LAYOUT):
    """A tensor that columns of the mesh have parts of along `dim`, and that its rows have alike."""
    return ttnn.as_tensor(
        weight,
        dtype=dtype,
        layout=layout,
        device=mesh_device,
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
        mesh_mapper=ttnn.ShardTensor2dMesh(mesh_device, dims=(None, dim), mesh_shape=mesh_device.shape),
    )


class DistributedRMSNorm:
    def __init__(self, config, ccl, norm):
        self.eps, self.ccl = config.norm_eps, ccl
        rows = norm.weight.view(1, 1, config.dim // 32, 32)
        self.weight = split(rows, 2, ccl.mesh_device, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
        self.compute_kernel_config = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )

    def forward(self, x):
        own = ttnn.rms_norm_pre_all_gather(x, compute_kernel_config=self.compute_kernel_config, dtype=ttnn.bfloat16)
        statistics = self.ccl.all_gather(own)
        ttnn.deallocate(own)
        normed = ttnn.rms_norm_post_all_gather(
            x, statistics, epsilon=self.eps, weight=self.weight, compute_kernel_config=self.compute_kernel_config
        )
        ttnn.deallocate(statistics)
        return normed


class Attention:
    def __init__(self, config, ccl, attention):
        self.config, self.ccl = config, ccl
        devices = ccl.mesh_device.shape[1]
        self.n_local_heads, self.n_local_kv_heads = config.n_heads // devices, config.n_kv_heads // devices
        parts = [part.weight.T.chunk(devices, -1) for part in (attention.wq, attention.wk, attention.wv)]
        wqkv = torch.cat([each for of_device in zip(*parts, strict=True) for each in of_device], -1)
        self.wqkv = split(wqkv[None, None], 3, ccl.mesh_device, ATTENTION)
        self.wo = split(attention.wo.weight.T[None, None], 2, ccl.mesh_device, ATTENTION)
        cache = torch.zeros((config.blocks, config.n_kv_heads, config.block_size, config.head_dim))
        self.keys, self.values = (split(cache, 1, ccl.mesh_device, ttnn.bfloat8_b) for _ in range(2))

    def forward(self, x, current_pos, rot_mats, transformation_mat, page_table):
        gathered = self.ccl.all_gather(x)
        fused = ttnn.linear(gathered, self.wqkv, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(gathered)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
            fused,
            num_heads=self.n_local_heads,
            num_kv_heads=self.n_local_kv_heads,
            memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        )
        ttnn.deallocate(fused)
        query, key = (
            ttnn.experimental.rotary_embedding_llama(each, *rot_mats, transformation_mat, is_decode_mode=True)
            for each in (query, key)
        )
        for cache, new in ((self.keys, key), (self.values, value)):
            ttnn.experimental.paged_update_cache(cache, new, update_idxs_tensor=current_pos, page_table=page_table)
        attended = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            query,
            self.keys,
            self.values,
            page_table_tensor=page_table,
            cur_pos_tensor=current_pos,
            scale=self.config.head_dim**-0.5,
            memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        )
        joined = ttnn.experimental.nlp_concat_heads_decode(attended, num_heads=self.n_local_heads)
        joined = ttnn.to_memory_config(joined, ttnn.L1_MEMORY_CONFIG)[:, :, :1, :]
        partial = ttnn.linear(joined, self.wo, dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(joined)
        return self.ccl.reduce_scatter(partial)


class MLP:
    def __init__(self, ccl, feed_forward):
        self.ccl = ccl
        self.w1 = split(feed_forward.w1.weight.T[None, None], 3, ccl.mesh_device, GATE_UP)
        self.w2 = split(feed_forward.w2.weight.T[None, None], 2, ccl.mesh_device, DOWN)
        self.w3 = split(feed_forward.w3.weight.T[None, None], 3, ccl.mesh_device, GATE_UP)

    def forward(self, x):
        gathered = self.ccl.all_gather(x)
        w1_out = ttnn.linear(gathered, self.w1, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)
        w3_out = ttnn.linear(gathered, self.w3, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(gathered)
        w2_in = ttnn.multiply(
            w1_out, w3_out, input_tensor_a_activations=[ttnn.UnaryOpType.SILU], memory_config=w1_out.memory_config()
        )
        partial = ttnn.linear(w2_in, self.w2, dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(w2_in)
        return self.ccl.reduce_scatter(partial)


class Block:
    def __init__(self, config, ccl, block):
        self.attention_norm = DistributedRMSNorm(config, ccl, block.attention_norm)
        self.attention = Attention(config, ccl, block.attention)
        self.ff_norm = DistributedRMSNorm(config, ccl, block.ffn_norm)
        self.feed_forward = MLP(ccl, block.feed_forward)

    def forward(self, x, *positions):
        h = ttnn.add(x, self.attention.forward(self.attention_norm.forward(x), *positions))
        return ttnn.add(h, self.feed_forward.forward(self.ff_norm.forward(h)))


class Transformer:
    def __init__(self, config, mesh_device, model):
        self.config, self.mesh_device = config, mesh_device
        self.ccl = CCL(mesh_device)
        self.embedding = split(model.tok_embeddings.weight, 1, mesh_device, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
        self.layers = [Block(config, self.ccl, layer) for layer in model.layers]
        self.norm = DistributedRMSNorm(config, self.ccl, model.norm)
        self.output = split(model.tok_embeddings.weight.T[None, None], 3, mesh_device, ttnn.bfloat8_b)
        cos, sin = angles(config, torch.arange(config.blocks * config.block_size))
        self.tables = [ttnn.from_torch(each, dtype=ttnn.bfloat16, device=mesh_device) for each in (cos, sin)]
        rotation = torch.zeros((1, 1, 32, 32))
        rotation[..., torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
        rotation[..., torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1
        self.transformation_mat = ttnn.from_torch(
            rotation, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh_device
        )

    def rotations(self, position):
        rows = (ttnn.embedding(position, table, layout=ttnn.TILE_LAYOUT) for table in self.tables)
        return [ttnn.reshape(each, (1, 1, 1, self.config.head_dim)) for each in rows]

    def forward(self, token, position, current_pos, page_table):
        """Each device's logits of its part of the vocabulary."""
        rot_mats = self.rotations(position)
        x = ttnn.unsqueeze_to_4D(ttnn.embedding(token, self.embedding, layout=ttnn.TILE_LAYOUT))
        for layer in self.layers:
            x = layer.forward(x, current_pos, rot_mats, self.transformation_mat, page_table)
        gathered = self.ccl.all_gather(self.norm.forward(x))
        return ttnn.linear(gathered, self.output, dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG)

    def sampled(self, logits):
        """The most likely token of each user: the best of each device are gathered, not all logits."""
        per_device = self.config.vocab_size // self.mesh_device.shape[1]
        offsets = torch.arange(0, self.config.vocab_size, per_device).repeat_interleave(32).view(1, 1, 1, -1)
        first = split(offsets, 3, self.mesh_device, ttnn.int32)
        best, indices = ttnn.topk(logits, k=32, dim=3)
        numbers = ttnn.add(ttnn.typecast(indices, ttnn.int32), first)
        best, numbers = self.ccl.all_gather(best), self.ccl.all_gather(numbers)
        place = ttnn.argmax(ttnn.untilize(best), dim=3, keepdim=True)
        place = ttnn.to_layout(place, ttnn.TILE_LAYOUT)
        token = ttnn.typecast(ttnn.gather(numbers, dim=3, index=place), ttnn.uint32)
        return ttnn.reshape(ttnn.to_layout(token, ttnn.ROW_MAJOR_LAYOUT), (1, 1))


def generated(model, prompts, mesh_device):
    """The logits behind every token of each user, users x tokens x vocabulary."""
    config = model.config
    by_user = ttnn.ShardTensor2dMesh(mesh_device, dims=(0, None), mesh_shape=mesh_device.shape)
    composer = ttnn.ConcatMesh2dToTensor(mesh_device, dims=(0, 3), mesh_shape=mesh_device.shape)
    page_table = ttnn.from_torch(torch.randperm(config.blocks)[None], dtype=ttnn.int32, device=mesh_device)
    logits, token = [], None
    for position in range(prompts.shape[1] + config.tokens - 1):
        if position < prompts.shape[1]:
            own = prompts[:, position : position + 1]
            token = ttnn.from_torch(own, dtype=ttnn.uint32, device=mesh_device, mesh_mapper=by_user)
        at = torch.tensor([position])
        row = ttnn.from_torch(at[None], dtype=ttnn.uint32, device=mesh_device)
        current_pos = ttnn.from_torch(at, dtype=ttnn.int32, device=mesh_device)
        found = model.forward(token, row, current_pos, page_table)
        logits.append(ttnn.to_torch(found, mesh_composer=composer)[:, 0])
        token = model.sampled(found)
    return torch.cat(logits, 1).float()


def build(config, users):
    """The torch model, the prompts of the users, and its logits, users x tokens x vocabulary."""
    torch.manual_seed(0)
    model = Llama(config).eval().requires_grad_(requires_grad=False)
    prompts = torch.randint(config.vocab_size, (users, 4))
    return model, prompts, torch.stack([model.generate(prompt, config.tokens) for prompt in prompts])


def main():
    for shape in MESHES:
        model, prompts, wanted = build(CONFIG, users=shape[0])
        mesh_device = ttnn.open_mesh_device(ttnn.MeshShape(*shape))
        found = generated(Transformer(CONFIG, mesh_device, model), prompts, mesh_device)
        correlation = ttnn.pearson_correlation_coefficient(wanted, found)
        print(f"{mesh_device}: tokens {found.argmax(-1).tolist()} {correlation=:.5f}")
        assert correlation > 0.99
        assert torch.equal(found.argmax(-1), wanted.argmax(-1))
        ttnn.close_mesh_device(mesh_device)


if __name__ == "__main__":
    main()
    print("PASSED")
