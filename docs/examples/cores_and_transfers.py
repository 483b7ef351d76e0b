# Cores by number, shards with a partial last one, and transfers between host and device.
#
#     python -m ttnn_jit docs/examples/cores_and_transfers.py

import torch
import ttnn
from ttnn.types import BufferType, TensorMemoryLayout


def width_sharded(shape, cores):
    """A sharded config as decoders use it for activations: over the first `cores` cores of the grid."""
    grid = ttnn.num_cores_to_corerangeset(cores, ttnn.CoreCoord(8, 8), row_wise=True)
    shard = (shape[-2], ttnn.core.divup(shape[-1], cores))
    spec = ttnn.ShardSpec(grid, shard, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1, spec)


def main():
    torch.manual_seed(0)
    device = ttnn.open_device(device_id=ttnn.get_device_ids()[0])
    ttnn.SetDefaultDevice(device)
    assert ttnn.GetDefaultDevice() is device
    assert device.arch() != ttnn.device.Arch.GRAYSKULL

    config = width_sharded((32, 2048), 32)
    print(config)
    torch_x = torch.randn(32, 2048)
    host = ttnn.from_torch(torch_x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    x = ttnn.allocate_tensor_on_device(host.shape, host.dtype, host.layout, device, config)
    ttnn.copy_host_to_device_tensor(host, x, cq_id=0)
    assert x.storage_type() == ttnn.StorageType.DEVICE
    assert x.is_sharded()

    uneven = ttnn.create_sharded_memory_config_(
        (1, 1, 1000, 64),
        ttnn.CoreGrid(x=8, y=4),
        ttnn.ShardStrategy.HEIGHT,
        ttnn.ShardOrientation.ROW_MAJOR,
        tile_layout=True,
    )
    print(uneven.shard_spec.shape)

    doubled = ttnn.add(x, x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])
    interleaved = ttnn.to_memory_config(doubled, ttnn.DRAM_MEMORY_CONFIG)
    moved = ttnn.move(interleaved)
    back = ttnn.to_dtype(ttnn.from_device(moved, blocking=True), ttnn.float32)
    expected = torch.relu(torch_x.bfloat16() * 2)
    assert torch.equal(ttnn.to_torch(back), expected.float())
    print(f"{back.shape=} {back.dtype=} {back.storage_type()=}")

    count, cores, more, fewer, *units = ttnn.split_work_to_cores(ttnn.CoreCoord(8, 8), 100)
    print(count, cores.num_cores(), more.num_cores(), fewer.num_cores(), units)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
