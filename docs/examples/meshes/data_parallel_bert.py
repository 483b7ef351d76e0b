# BERT on a mesh: every device has the weights and a part of the batch. The bits are those of one device.
#
#     python -m ttnn_jit docs/examples/meshes/data_parallel_bert.py

import sys
from pathlib import Path

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_model_parameters

sys.path.append(str(Path(__file__).parents[1] / "models"))

from bert import SMALL, Bert, bert

BATCH, SEQUENCE = 8, 32


def tokens(config):
    """Token ids, segments, positions, and a mask that hides the end of each sentence."""
    torch.manual_seed(1)
    ids = torch.randint(config.vocab_size, (BATCH, SEQUENCE))
    segments = (torch.arange(SEQUENCE) > SEQUENCE // 2).long().expand(BATCH, SEQUENCE)
    positions = torch.arange(SEQUENCE).expand(BATCH, SEQUENCE)
    kept = torch.arange(SEQUENCE) < torch.arange(SEQUENCE - BATCH, SEQUENCE)[:, None]
    return ids, segments, positions, torch.where(kept, 0.0, -100000.0)[:, None, None, :]


def answers(model, inputs, mesh_device):
    """The logits of the whole batch."""
    parameters = preprocess_model_parameters(initialize_model=lambda: model, device=mesh_device)
    with ttnn.distribute(ttnn.ShardTensorToMesh(mesh_device, dim=0)):
        ids = [ttnn.from_torch(each, dtype=ttnn.uint32, device=mesh_device) for each in inputs[:3]]
        mask = ttnn.from_torch(inputs[3], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh_device)
    result = bert(SMALL, *ids, mask, parameters=parameters)
    return ttnn.to_torch(result, mesh_composer=ttnn.ConcatMeshToTensor(mesh_device, dim=0))


def main():
    torch.manual_seed(0)
    model = Bert(SMALL).eval().requires_grad_(requires_grad=False)
    inputs = tokens(SMALL)
    found = {}
    for devices in (1, 2, 8):
        mesh_device = ttnn.open_mesh_device(ttnn.MeshShape(1, devices))
        found[devices] = answers(model, inputs, mesh_device)
        ttnn.close_mesh_device(mesh_device)
    correlation = ttnn.pearson_correlation_coefficient(model(*inputs), found[1].float())
    print(f"{correlation=:.5f}")
    assert correlation > 0.999
    assert torch.equal(found[2], found[1])
    assert torch.equal(found[8], found[1])


if __name__ == "__main__":
    main()
    print("PASSED")
