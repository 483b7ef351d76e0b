# A gated activation as in a model: eager, then the same code compiled, in sharded L1.
#
#     python -m ttnn_jit docs/examples/gated_activation.py --rows 256

import argparse
from dataclasses import dataclass

import torch
import ttnn
from ttnn import ShardStrategy, create_sharded_memory_config

import ttnn_jit


@dataclass
class Parameters:
    gate_bias: ttnn.Tensor
    value_bias: ttnn.Tensor


class GatedActivation:
    def __init__(self, parameters: Parameters, limit: float = 6.0):
        self.parameters = parameters
        self.limit = limit

    def __call__(self, gate: ttnn.Tensor, value: ttnn.Tensor) -> ttnn.Tensor:
        return self.activate(gate, value, self.parameters)

    @ttnn_jit.jit()
    def activate(self, gate: ttnn.Tensor, value: ttnn.Tensor, parameters: Parameters) -> ttnn.Tensor:
        gate = ttnn.silu(ttnn.add(gate, parameters.gate_bias))
        value = ttnn.clamp(ttnn.add(value, parameters.value_bias), min=-self.limit, max=self.limit)
        return ttnn.multiply(gate, value)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rows", type=int, default=128)
    rows = arguments.parse_args().rows

    torch.manual_seed(0)
    device = ttnn.open_device(device_id=0)
    grid = ttnn.CoreGrid(x=device.core_grid.x // 2, y=device.core_grid.y // 2)
    sharded = create_sharded_memory_config((rows, 128), grid, ShardStrategy.BLOCK)

    def to_device(tensor):
        tensor = ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        return ttnn.to_memory_config(tensor, sharded)

    data = [torch.randn(rows, 128) for _ in range(4)]
    gate, value, gate_bias, value_bias = map(to_device, data)
    layer = GatedActivation(Parameters(gate_bias, value_bias))
    result = layer(gate, value)
    assert result.memory_config() == sharded

    expected = torch.nn.functional.silu(data[0] + data[2]) * (data[1] + data[3]).clamp(-6.0, 6.0)
    error = (ttnn.to_torch(result).float() - expected).abs().max().item()
    print(f"{rows} rows, largest error {error:.3f}, {device.num_program_cache_entries()} program")
    print(device.memory_view().used, "bytes of L1 on the fullest core")
    assert error < 0.3
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
