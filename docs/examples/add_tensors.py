# Add two tensors on a device and compare with torch.
#
#     python -m ttnn_jit docs/examples/add_tensors.py

import torch
import ttnn


def main():
    torch.manual_seed(0)
    device = ttnn.open_device(device_id=0, l1_small_size=8192)

    torch_a = torch.rand((32, 32), dtype=torch.bfloat16)
    torch_b = torch.rand((32, 32), dtype=torch.bfloat16)
    a = ttnn.from_torch(torch_a, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    b = ttnn.from_torch(torch_b, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    total = a + b
    doubled = ttnn.mul(total, 2.0, memory_config=ttnn.L1_MEMORY_CONFIG)
    print(f"{total.shape=} {total.dtype=} {total.layout=}")
    print(f"{doubled.memory_config().buffer_type=}")

    expected = ttnn.get_golden_function(ttnn.add)(torch_a, torch_b)
    assert torch.equal(ttnn.to_torch(total), expected)
    assert torch.equal(ttnn.to_torch(ttnn.from_device(doubled)), expected * 2)

    ttnn.deallocate(doubled)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
