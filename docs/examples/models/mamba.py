# The block of Mamba, token by token: a convolution of the last four tokens, and a state that every token updates.
#
#     python -m ttnn_jit docs/examples/models/mamba.py

from dataclasses import dataclass

import torch
import ttnn


@dataclass(frozen=True)
class Config:
    d_model: int = 64
    d_inner: int = 128
    d_state: int = 16
    dt_rank: int = 32
    d_conv: int = 4
    batch: int = 32
    tokens: int = 3


SMALL = Config()
FULL = Config(2560, 5120, 16, 160, batch=32, tokens=3)


class Mamba(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        inner, rank, state = config.d_inner, config.dt_rank, config.d_state
        self.in_proj = torch.nn.Linear(config.d_model, 2 * inner, bias=False)
        self.conv1d = torch.nn.Conv1d(inner, inner, config.d_conv, groups=inner, padding=config.d_conv - 1)
        self.x_proj = torch.nn.Linear(inner, rank + 2 * state, bias=False)
        self.dt_proj = torch.nn.Linear(rank, inner)
        self.A_log = torch.nn.Parameter(torch.log(torch.arange(1.0, state + 1).repeat(inner, 1)))
        self.D = torch.nn.Parameter(torch.ones(inner))
        self.out_proj = torch.nn.Linear(inner, config.d_model, bias=False)

    def forward(self, tokens):
        """The results of all `tokens`, which are tokens x batch x model."""
        config = self.config
        past = [torch.zeros(config.batch, config.d_inner)] * (config.d_conv - 1)
        state, results = torch.zeros(config.batch, config.d_inner, config.d_state), []
        for token in tokens:
            x, gate = self.in_proj(token).chunk(2, -1)
            past = [*past[-(config.d_conv - 1) :], x]
            taps = self.conv1d.weight[:, 0]
            x = torch.nn.functional.silu(sum(each * taps[:, k] for k, each in enumerate(past)) + self.conv1d.bias)
            delta, b, c = self.x_proj(x).split((config.dt_rank, config.d_state, config.d_state), -1)
            delta = torch.nn.functional.softplus(self.dt_proj(delta))
            decay = torch.exp(delta[..., None] * -torch.exp(self.A_log))
            state = decay * state + (delta * x)[..., None] * b[:, None]
            y = (state * c[:, None]).sum(-1) + x * self.D
            results.append(self.out_proj(y * torch.nn.functional.silu(gate)))
        return torch.stack(results)


COMPUTE = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True
)


def linear(x, weight, **keywords):
    return ttnn.linear(
        x,
        weight,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        compute_kernel_config=COMPUTE,
        dtype=ttnn.bfloat16,
        **keywords,
    )


def convolution(config, x, conv_states, parameters):
    """The convolution of the last tokens, with `x` as the newest; `conv_states` are updated to these."""
    for k in range(config.d_conv - 1):
        ttnn.copy(conv_states[k + 1], conv_states[k])
    ttnn.copy(x, conv_states[config.d_conv - 1])
    ttnn.deallocate(x)
    conv_accumulator = ttnn.multiply(
        conv_states[0], parameters["conv1d.0"], memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16
    )
    for k in range(1, config.d_conv):
        prod = ttnn.multiply(
            conv_states[k], parameters[f"conv1d.{k}"], memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16
        )
        conv_accumulator = ttnn.add(
            conv_accumulator,
            prod,
            memory_config=ttnn.L1_MEMORY_CONFIG,
            dtype=ttnn.bfloat16,
            output_tensor=conv_accumulator,
        )
        ttnn.deallocate(prod)
    conv_out = ttnn.add(conv_accumulator, parameters["conv1d.bias"], memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(conv_accumulator)
    return conv_out


def selective_scan(config, x, hidden_state, parameters):
    """The output of the state after the token `x`; `hidden_state` is updated to that state."""
    delta = linear(linear(x, parameters["delta_t_proj"]), parameters["dt_proj"], bias=parameters["dt_proj.bias"])
    delta = ttnn.softplus(delta, beta=1.0, threshold=20.0, memory_config=ttnn.L1_MEMORY_CONFIG)

    wide = (1, 1, config.batch, config.d_inner * config.d_state)
    steps = ttnn.repeat_interleave(delta, config.d_state, dim=3)
    abar = ttnn.exp(ttnn.multiply(steps, parameters["A"]), memory_config=ttnn.L1_MEMORY_CONFIG)
    b = ttnn.repeat(linear(x, parameters["B_proj"]), ttnn.Shape((1, 1, 1, config.d_inner)))
    bmulx = ttnn.multiply(ttnn.multiply(b, steps), ttnn.repeat_interleave(x, config.d_state, dim=3))
    assert tuple(bmulx.shape) == wide

    decayed = ttnn.multiply(abar, hidden_state, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
    state = ttnn.add(decayed, bmulx, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
    ttnn.copy(state, hidden_state)

    c = ttnn.repeat(linear(x, parameters["C_proj"]), ttnn.Shape((1, 1, 1, config.d_inner)))
    read = ttnn.reshape(ttnn.multiply(c, state), (1, config.batch, config.d_inner, config.d_state))
    return ttnn.reshape(ttnn.sum(read, dim=3), (1, 1, config.batch, config.d_inner))


def mamba_block(config, x, conv_states, hidden_state, *, parameters):
    """One token's result; `conv_states` and `hidden_state` are updated."""
    residual = linear(x, parameters["mlp_proj"], activation="silu")
    x_ssm = linear(x, parameters["ssm_in_proj"])

    conv_out = convolution(config, x_ssm, conv_states, parameters)
    x = ttnn.silu(conv_out, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(conv_out)

    read = selective_scan(config, x, hidden_state, parameters)
    out = ttnn.add(read, ttnn.multiply(x, parameters["D"]), memory_config=ttnn.L1_MEMORY_CONFIG)
    out = ttnn.multiply(out, residual, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
    return linear(out, parameters["out_proj"])


def build(config, device, compiled=lambda function: function):
    """Functions that run the block on `device`, and torch's, on the same tokens."""
    torch.manual_seed(0)
    model = Mamba(config).eval().requires_grad_(requires_grad=False)
    inner, rank, state = config.d_inner, config.dt_rank, config.d_state

    def on_device(tensor, dtype=ttnn.bfloat16):
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    delta, b, c = model.x_proj.weight.split((rank, state, state))
    parameters = {
        "ssm_in_proj": on_device(model.in_proj.weight[:inner].T, ttnn.bfloat8_b),
        "mlp_proj": on_device(model.in_proj.weight[inner:].T, ttnn.bfloat8_b),
        "delta_t_proj": on_device(delta.T),
        "B_proj": on_device(b.T),
        "C_proj": on_device(c.T),
        "dt_proj": on_device(model.dt_proj.weight.T),
        "dt_proj.bias": on_device(model.dt_proj.bias[None]),
        "A": on_device(-torch.exp(model.A_log).reshape(1, 1, 1, -1)),
        "D": on_device(model.D.reshape(1, 1, 1, -1)),
        "conv1d.bias": on_device(model.conv1d.bias.reshape(1, 1, 1, -1)),
        "out_proj": on_device(model.out_proj.weight.T, ttnn.bfloat8_b),
    }
    for k in range(config.d_conv):
        parameters[f"conv1d.{k}"] = on_device(model.conv1d.weight[:, 0, k].reshape(1, 1, 1, -1))
    tokens = torch.randn(config.tokens, config.batch, config.d_model)
    inputs = [on_device(token[None, None]) for token in tokens]
    block = compiled(mamba_block)

    def run():
        conv_states = [on_device(torch.zeros(1, 1, config.batch, inner)) for _ in range(config.d_conv)]
        hidden_state = on_device(torch.zeros(1, 1, config.batch, inner * state))
        results = [block(config, x, conv_states, hidden_state, parameters=parameters) for x in inputs]
        return ttnn.concat([ttnn.squeeze(result, 0) for result in results], dim=0)

    return run, lambda: model(tokens)


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
