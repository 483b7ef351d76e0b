# The memory layouts of a tensor: interleaved, sharded by height, width and block, and by a TensorSpec.

import torch
import ttnn


def main():
    device = ttnn.open_device(device_id=0)
    torch_tensor = torch.randn(1, 1, 256, 512, dtype=torch.bfloat16)
    interleaved = ttnn.as_tensor(
        torch_tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG
    )
    grid = ttnn.CoreGrid(x=8, y=1)
    for strategy in (ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK):
        config = ttnn.create_sharded_memory_config(
            shape=interleaved.shape, core_grid=grid, strategy=strategy, orientation=ttnn.ShardOrientation.ROW_MAJOR
        )
        sharded = ttnn.to_memory_config(interleaved, config)
        result = ttnn.gelu(sharded)
        print(
            f"{strategy}: shards of {result.memory_config().shard_spec.shape}, {result.memory_config().memory_layout}"
        )
        back = ttnn.to_memory_config(result, ttnn.DRAM_MEMORY_CONFIG)
        assert torch.equal(ttnn.to_torch(back), ttnn.to_torch(ttnn.gelu(interleaved)))

    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})
    spec = ttnn.TensorSpec(
        shape=(1, 1, 256, 512), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, buffer_type=ttnn.BufferType.L1
    ).block_sharded(cores)
    by_spec = ttnn.from_torch(torch_tensor, spec=spec, device=device)
    print(f"by spec: shards of {by_spec.memory_config().shard_spec.shape}")
    out = ttnn.empty_like(by_spec)
    ttnn.add(by_spec, 1.0, output_tensor=out)
    assert torch.equal(ttnn.to_torch(out), torch_tensor + 1.0)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
