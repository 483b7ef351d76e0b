# A pipeline of two meshes: each has half of the layers, and a socket carries activations from the first to the second.
#
#     python -m ttnn_jit docs/examples/meshes/pipeline.py                                       # both in one process
#     tt-run --rank-binding docs/examples/meshes/pipeline.yaml python3 docs/examples/meshes/pipeline.py  # a rank each

import hashlib

import torch
import ttnn

SHAPE = ttnn.MeshShape(1, 4)
"""The shape of each mesh, along which the layers are split."""
LAYERS, BATCHES, ROWS, DIM, HIDDEN = 4, 6, 32, 256, 1024


class Stage:
    """Some layers on a mesh: each device has a part of the hidden channels."""

    def __init__(self, mesh_device, layers):
        self.mesh_device = mesh_device
        self.layers = [(self.split(up, 1), self.split(down, 0)) for up, down in layers]

    def split(self, weight, dim):
        return self.on_mesh(weight, ttnn.ShardTensorToMesh(self.mesh_device, dim=dim))

    def on_mesh(self, values, mapper):
        return ttnn.from_torch(
            values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.mesh_device, mesh_mapper=mapper
        )

    def replicated(self, values):
        return self.on_mesh(values, ttnn.ReplicateTensorToMesh(self.mesh_device))

    def forward(self, x):
        for up, down in self.layers:
            x = ttnn.add(x, ttnn.all_reduce(ttnn.matmul(ttnn.gelu(ttnn.matmul(x, up)), down), cluster_axis=1))
        return x


def send_batches(stage, batches, socket):
    for batch in batches:
        ttnn.experimental.send_async(stage.forward(stage.replicated(batch)), socket)


def receive_batches(stage, socket):
    x = stage.replicated(torch.zeros(ROWS, DIM))
    for _ in range(BATCHES):
        ttnn.experimental.recv_async(x, socket)
        yield ttnn.to_torch(ttnn.get_device_tensors(stage.forward(x))[0])


def config(sender_rank=None, receiver_rank=None):
    """A connection from each device to the one at its place in the other mesh."""
    core = ttnn.CoreCoord(0, 0)
    places = [ttnn.MeshCoreCoord(coordinate, core) for coordinate in ttnn.MeshCoordinateRange(SHAPE)]
    connections = [ttnn.SocketConnection(place, place) for place in places]
    memory = ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 4096)
    return ttnn.SocketConfig(connections, memory, sender_rank=sender_rank, receiver_rank=receiver_rank)


def in_one_process(layers, batches):
    whole = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    first, second = (whole.create_submesh(SHAPE, ttnn.MeshCoordinate(row, 0)) for row in range(2))
    sender, receiver = ttnn.create_socket_pair(first, second, config())
    send_batches(Stage(first, layers[: LAYERS // 2]), batches, sender)
    return [*receive_batches(Stage(second, layers[LAYERS // 2 :]), receiver)]


def in_two_ranks(layers, batches):
    mesh_device = ttnn.open_mesh_device(SHAPE)
    rank = ttnn.distributed_context_get_rank()
    stage = Stage(mesh_device, layers[rank * LAYERS // 2 : (rank + 1) * LAYERS // 2])
    socket = ttnn.MeshSocket(mesh_device, config(sender_rank=0, receiver_rank=1))
    results = [] if rank == 0 else [*receive_batches(stage, socket)]
    if rank == 0:
        send_batches(stage, batches, socket)
    ttnn.distributed_context_barrier()
    return results


def main():
    torch.manual_seed(0)
    layers = [(torch.randn(DIM, HIDDEN) / 16, torch.randn(HIDDEN, DIM) / 32) for _ in range(LAYERS)]
    batches = [torch.randn(ROWS, DIM) for _ in range(BATCHES)]
    ttnn.init_distributed_context()
    results = (in_one_process if ttnn.distributed_context_get_size() == 1 else in_two_ranks)(layers, batches)
    for batch, result in zip(batches, results, strict=bool(results)):
        x = batch
        for up, down in layers:
            x = x + torch.nn.functional.gelu(x @ up) @ down
        assert ttnn.pearson_correlation_coefficient(x, result.float()) > 0.999
    if results:  # of the second stage
        print("digest", hashlib.sha256(b"".join(each.float().numpy().tobytes() for each in results)).hexdigest()[:16])
        print("PASSED")


if __name__ == "__main__":
    main()
