# A network whose converted weights are stored in files: the second start reads them and converts nothing.
#
#     python -m ttnn_jit docs/examples/cached_weights.py

import tempfile
from pathlib import Path

import torch
import ttnn
from ttnn.device import Arch, is_wormhole_b0


def gated(x, gate, up, down, program_config, compute_kernel_config):
    """The product of an activated gate and a value, as in the feed-forward network of a decoder."""
    shared = {"compute_kernel_config": compute_kernel_config, "memory_config": ttnn.L1_MEMORY_CONFIG}
    gates = ttnn.matmul(x, gate, **shared)
    values = ttnn.matmul(x, up, **shared)
    product = ttnn.mul(gates, values, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])
    return ttnn.matmul(product, down, program_config=program_config, dtype=ttnn.bfloat16)


def main():
    torch.manual_seed(0)
    device = ttnn.CreateDevice(0)
    assert device.arch() == Arch.WORMHOLE_B0 or not is_wormhole_b0(device)
    state = {
        name: torch.randn(shape) / 16
        for name, shape in (("gate", (512, 128)), ("up", (512, 128)), ("down", (128, 512)))
    }

    with tempfile.TemporaryDirectory() as folder:

        def weight(name):
            return ttnn.as_tensor(
                state[name],
                dtype=ttnn.bfloat16,
                layout=ttnn.TILE_LAYOUT,
                device=device,
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
                cache_file_name=Path(folder) / "layers.0" / name,
                preprocess=lambda tensor: torch.transpose(tensor, -2, -1),
            )

        gate, up, down = map(weight, state)
        print(sorted(path.name for path in Path(folder).rglob("*.tensorbin")))
        assert torch.equal(ttnn.to_torch(weight("down")), ttnn.to_torch(down))

    program_config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=device.compute_with_storage_grid_size(),
        in0_block_w=2,
        out_subblock_h=1,
        out_subblock_w=2,
        per_core_M=2,
        per_core_N=4,
        transpose_mcast=False,
        fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
    )
    print(program_config)
    compute_kernel_config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
    )
    torch_x = torch.randn(64, 128)
    x = ttnn.Tensor(torch_x, ttnn.bfloat16).to(ttnn.TILE_LAYOUT).to(device, ttnn.L1_MEMORY_CONFIG)
    result = gated(x, gate, up, down, program_config, compute_kernel_config)

    gates, values = (torch_x @ state[name].T for name in ("gate", "up"))
    expected = torch.relu((torch.nn.functional.silu(gates) * values) @ state["down"].T)
    correlation = ttnn.pearson_correlation_coefficient(expected, ttnn.to_torch(result).float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.CloseDevice(device)


if __name__ == "__main__":
    main()
    print("PASSED")
