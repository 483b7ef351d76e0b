# A mixture of experts on a mesh: every device has some experts and some tokens. Tokens go to the devices of their
# experts, and the results come back.
#
#     python -m ttnn_jit docs/examples/meshes/expert_parallel.py

import sys
from pathlib import Path

import torch
import ttnn

sys.path.append(str(Path(__file__).parents[1] / "models"))

from mixture_of_experts import SMALL, Experts, swiglu

DEVICES, BATCH = 4, 8
"""Devices; sequences of one device."""


class ExpertParallel:
    """The experts of each device, and the map that says which device has which expert."""

    def __init__(self, config, mesh_device, model):
        self.config, self.mesh_device = config, mesh_device
        experts, devices = config.num_local_experts, mesh_device.get_num_devices()
        gate, up = model.gate_up_proj[..., ::2], model.gate_up_proj[..., 1::2]
        gate_bias, up_bias = model.gate_up_proj_bias[:, None, ::2], model.gate_up_proj_bias[:, None, 1::2]
        self.gate, self.up, self.down = (self.own(each, ttnn.bfloat8_b) for each in (gate, up, model.down_proj))
        self.gate_bias, self.up_bias = self.own(gate_bias), self.own(up_bias)
        self.down_bias = self.own(model.down_proj_bias[:, None])
        self.router = self.on_every_device(model.router.weight.T)
        self.router_bias = self.on_every_device(model.router.bias[None])
        owner = torch.arange(experts) // (experts // devices)
        mapping = torch.nn.functional.one_hot(owner, devices)[None, None]
        self.mapping = ttnn.from_torch(mapping, dtype=ttnn.uint16, device=mesh_device)

    def own(self, weights, dtype=ttnn.bfloat16):
        mapper = ttnn.ShardTensorToMesh(self.mesh_device, dim=0)
        return ttnn.from_torch(
            weights[:, None], dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.mesh_device, mesh_mapper=mapper
        )

    def on_every_device(self, weights):
        return ttnn.from_torch(weights, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.mesh_device)

    def forward(self, x):
        """The result for tokens of shape [sequences, 1, 1, hidden] on each device."""
        config, hidden = self.config, x.shape[-1]
        logits = ttnn.linear(ttnn.to_layout(x, ttnn.TILE_LAYOUT), self.router, bias=self.router_bias)
        best, chosen = ttnn.topk(logits, k=config.num_experts_per_tok, dim=-1, sorted=True)
        weights = ttnn.softmax(best, dim=-1, numeric_stable=True)
        indices = ttnn.to_layout(chosen, ttnn.ROW_MAJOR_LAYOUT)

        tokens, metadata = ttnn.all_to_all_dispatch(x, indices, self.mapping, cluster_axis=1, num_links=1)
        rows = ttnn.to_layout(ttnn.reshape(tokens, (1, 1, tokens.shape[1], hidden)), ttnn.TILE_LAYOUT)
        gate = ttnn.add(ttnn.matmul(rows, self.gate), self.gate_bias)
        up = ttnn.add(ttnn.matmul(rows, self.up), self.up_bias)
        down = ttnn.add(ttnn.matmul(swiglu(config, gate, up), self.down), self.down_bias)
        results = ttnn.reshape(ttnn.to_layout(down, ttnn.ROW_MAJOR_LAYOUT), (down.shape[0], tokens.shape[1], 1, hidden))
        combined = ttnn.all_to_all_combine(results, metadata, self.mapping, 1, num_links=1)

        by_choice = ttnn.permute(ttnn.to_layout(weights, ttnn.ROW_MAJOR_LAYOUT), (3, 0, 1, 2))
        weighted = ttnn.multiply(
            ttnn.to_layout(combined, ttnn.TILE_LAYOUT), ttnn.to_layout(by_choice, ttnn.TILE_LAYOUT)
        )
        return ttnn.sum(weighted, dim=0)


def main():
    torch.manual_seed(0)
    model = Experts(SMALL).eval().requires_grad_(requires_grad=False)
    x = torch.randn(DEVICES * BATCH, 1, 1, SMALL.hidden_size).bfloat16()
    mesh_device = ttnn.open_mesh_device(ttnn.MeshShape(1, DEVICES))
    tokens = ttnn.from_torch(x, device=mesh_device, mesh_mapper=ttnn.ShardTensorToMesh(mesh_device, dim=0))
    result = ExpertParallel(SMALL, mesh_device, model).forward(tokens)
    found = ttnn.to_torch(result, mesh_composer=ttnn.ConcatMeshToTensor(mesh_device, dim=0))
    wanted = model(x.float().flatten(0, 2))
    correlation = ttnn.pearson_correlation_coefficient(wanted, found.reshape(wanted.shape).float())
    print(f"{found.shape=} {correlation=:.5f}")
    assert correlation > 0.99
    ttnn.close_mesh_device(mesh_device)


if __name__ == "__main__":
    main()
    print("PASSED")
