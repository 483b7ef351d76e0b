"""The examples of meshes over ranks: a tensor-parallel Llama, experts, and BERT with its batch split."""

from __future__ import annotations

import hashlib
import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests.ranks import in_ranks
from ttnn_jit import ttnn

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


@pytest.fixture
def example(monkeypatch):
    """Imports an example, which imports `ttnn` and the models beside it."""
    before = {*sys.modules}
    monkeypatch.setitem(sys.modules, "ttnn", ttnn)
    monkeypatch.setattr(sys, "path", [str(EXAMPLES / "meshes"), str(EXAMPLES / "models"), *sys.path])
    yield importlib.import_module
    for name in {*sys.modules} - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").is_relative_to(EXAMPLES):
            del sys.modules[name]


def digest(tensor):
    return hashlib.sha256(tensor.contiguous().view(torch.uint8).numpy()).hexdigest()


@pytest.mark.filterwarnings("ignore:`memory_config` on an operation")
@pytest.mark.parametrize(("count", "devices"), [(2, 4), (4, 4), (8, 8)])
def test_a_tensor_parallel_llama_generates_the_bits_of_one_process(count, devices, example, monkeypatch):
    llama = example("tensor_parallel_llama")
    heads = {"dim": 32 * devices, "n_heads": devices, "n_kv_heads": devices}
    config = replace(llama.CONFIG, **heads, hidden_dim=256, n_layers=1, tokens=3)
    model, prompts, wanted = llama.build(config, users=1)
    pages = torch.randperm(config.blocks)
    monkeypatch.setattr(torch, "randperm", lambda _: pages)
    eager = llama.Transformer.forward
    options = {"num_links": 1, "cluster_axis": 1, "topology": ttnn.Topology.Linear}
    monkeypatch.setattr(llama.CCL, "options", lambda _: options)  # without a count of calls

    def run(_=0):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, devices), target="cpu")
        return llama.generated(llama.Transformer(config, mesh, model), prompts, mesh)

    expected = run()
    assert torch.equal(expected.argmax(-1), wanted.argmax(-1))
    monkeypatch.setattr(llama.Transformer, "forward", ttnn_jit.jit()(eager))
    assert digest(run()) == digest(expected)
    for found in in_ranks(count, run):
        assert digest(found) == digest(expected)


@pytest.mark.parametrize("count", [2, 4])
def test_experts_on_the_devices_of_several_ranks_compute_the_bits_of_one_process(count, example, monkeypatch):
    experts = example("expert_parallel")
    torch.manual_seed(0)
    model = experts.Experts(experts.SMALL).eval().requires_grad_(requires_grad=False)
    x = torch.randn(experts.DEVICES * experts.BATCH, 1, 1, experts.SMALL.hidden_size).bfloat16()

    def run(_=0):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, experts.DEVICES), target="cpu")
        tokens = ttnn.from_torch(x, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
        layer = experts.ExpertParallel(experts.SMALL, mesh, model)
        for _ in range(2):
            result = layer.forward(tokens)
        return ttnn.to_torch(result, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))

    eager = run()
    jitted = ttnn_jit.jit(graph_capture=True)(experts.ExpertParallel.forward)
    monkeypatch.setattr(experts.ExpertParallel, "forward", jitted)
    expected = run()  # fused kernels round once
    assert torch.allclose(eager.float(), expected.float(), rtol=0.05, atol=0.05)
    for found in in_ranks(count, run):
        assert digest(found) == digest(expected)


@pytest.mark.parametrize("count", [2, 8])
def test_a_batch_that_is_split_over_several_ranks_has_the_bits_of_one_process(count, example, monkeypatch):
    bert = example("data_parallel_bert")
    monkeypatch.setattr(bert, "SMALL", replace(bert.SMALL, num_hidden_layers=1))
    torch.manual_seed(0)
    model = bert.Bert(bert.SMALL).eval().requires_grad_(requires_grad=False)
    inputs = bert.tokens(bert.SMALL)

    def run(_=0):
        return bert.answers(model, inputs, ttnn.open_mesh_device(ttnn.MeshShape(1, 8), target="cpu"))

    expected = digest(run())
    assert [*map(digest, in_ranks(count, run))] == [expected] * count
