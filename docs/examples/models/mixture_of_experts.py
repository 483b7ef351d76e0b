# A mixture of experts as in GPT-OSS: a router, and experts with a gate, a clamped activation and a weighted sum.
#
#     python -m ttnn_jit docs/examples/models/mixture_of_experts.py

from dataclasses import dataclass

import torch
import ttnn


@dataclass(frozen=True)
class Config:
    hidden_size: int = 128
    intermediate_size: int = 128
    num_local_experts: int = 8
    num_experts_per_tok: int = 2
    alpha: float = 1.702
    limit: float = 7.0
    tokens: int = 32


SMALL = Config()
FULL = Config(1024, 1024, 16, 4, tokens=32)


class Experts(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        experts, hidden, inner = config.num_local_experts, config.hidden_size, config.intermediate_size
        self.router = torch.nn.Linear(hidden, experts)
        self.gate_up_proj = torch.nn.Parameter(torch.randn(experts, hidden, 2 * inner) * hidden**-0.5)
        self.gate_up_proj_bias = torch.nn.Parameter(torch.randn(experts, 2 * inner) * 0.1)
        self.down_proj = torch.nn.Parameter(torch.randn(experts, inner, hidden) * inner**-0.5)
        self.down_proj_bias = torch.nn.Parameter(torch.randn(experts, hidden) * 0.1)

    def forward(self, x):
        config = self.config
        best, chosen = torch.topk(self.router(x), config.num_experts_per_tok, dim=-1)
        weights = torch.zeros((len(x), config.num_local_experts)).scatter(1, chosen, torch.softmax(best.float(), -1))
        gate_up = torch.einsum("th,ehi->eti", x, self.gate_up_proj) + self.gate_up_proj_bias[:, None]
        gate, up = gate_up[..., ::2], gate_up[..., 1::2]
        gate, up = gate.clamp(max=config.limit), up.clamp(-config.limit, config.limit)
        grown = (up + 1) * gate * torch.sigmoid(gate * config.alpha)
        down = torch.einsum("eti,eih->eth", grown, self.down_proj) + self.down_proj_bias[:, None]
        return torch.einsum("eth,te->th", down, weights)


def router(config, hidden_states, *, parameters):
    """The weight of every expert for every token, most of them zero."""
    logits = ttnn.linear(
        hidden_states,
        parameters["router.weight"],
        bias=parameters["router.bias"],
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        ),
    )
    best, chosen = ttnn.topk(logits, k=config.num_experts_per_tok, dim=-1, sorted=True)
    best = ttnn.softmax(best, dim=1, numeric_stable=True)
    weights = ttnn.scatter(ttnn.zeros_like(logits), dim=1, index=chosen, src=best)
    ttnn.deallocate(logits)
    return weights


def swiglu(config, gate, up):
    gate = ttnn.clamp(gate, min=None, max=config.limit)
    up = ttnn.clamp(up, min=-config.limit, max=config.limit)
    gate_alpha = ttnn.multiply(gate, config.alpha)
    gate_sigmoid = ttnn.sigmoid(gate_alpha)
    ttnn.deallocate(gate_alpha)
    glu = ttnn.multiply(gate, gate_sigmoid)
    ttnn.deallocate(gate_sigmoid)
    up = ttnn.add(up, 1.0)
    return ttnn.multiply(up, glu)


def experts(config, hidden_states, *, parameters):
    weights = router(config, hidden_states, parameters=parameters)
    tokens, hidden_size = hidden_states.shape
    x = ttnn.reshape(hidden_states, (1, tokens, hidden_size))
    x = ttnn.repeat(x, (config.num_local_experts, 1, 1))
    gate = ttnn.matmul(x, parameters["gate_proj"])
    gate = ttnn.add(gate, parameters["gate_proj_bias"])
    up = ttnn.matmul(x, parameters["up_proj"])
    up = ttnn.add(up, parameters["up_proj_bias"])
    ttnn.deallocate(x)
    grown = swiglu(config, gate, up)
    down = ttnn.matmul(grown, parameters["down_proj"])
    ttnn.deallocate(grown)
    down = ttnn.add(down, parameters["down_proj_bias"])

    weights = ttnn.permute(weights, (1, 0))
    weights = ttnn.reshape(weights, (config.num_local_experts, tokens, 1))
    weighted = ttnn.multiply(down, weights)
    ttnn.deallocate(down)
    return ttnn.sum(weighted, dim=0)


def build(config, device, compiled=lambda function: function):
    """Functions that run the layer on `device`, and torch's, on the same tokens."""
    torch.manual_seed(0)
    model = Experts(config).eval().requires_grad_(requires_grad=False)
    x = torch.randn(config.tokens, config.hidden_size)
    gate, up = model.gate_up_proj[..., ::2], model.gate_up_proj[..., 1::2]
    gate_bias, up_bias = model.gate_up_proj_bias[:, None, ::2], model.gate_up_proj_bias[:, None, 1::2]

    def on_device(tensor, dtype=ttnn.bfloat16):
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    parameters = {
        "router.weight": on_device(model.router.weight.T),
        "router.bias": on_device(model.router.bias[None]),
        "gate_proj": on_device(gate, ttnn.bfloat8_b),
        "gate_proj_bias": on_device(gate_bias),
        "up_proj": on_device(up, ttnn.bfloat8_b),
        "up_proj_bias": on_device(up_bias),
        "down_proj": on_device(model.down_proj, ttnn.bfloat8_b),
        "down_proj_bias": on_device(model.down_proj_bias[:, None]),
    }
    hidden_states = on_device(x)
    rounded = ttnn.to_torch(hidden_states).float()
    forward = compiled(experts)
    return lambda: forward(config, hidden_states, parameters=parameters), lambda: model(rounded)


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
