"""Exchanges of a mixture of experts, against loops in torch."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError

EXPERTS, CHOSEN, BATCH, SEQUENCE, WIDTH = 8, 3, 2, 3, 4
"""Experts of all devices; experts of a token; batch per device; tokens per row of it; channels."""


def groups(shape, axis):
    numbers = torch.arange(ttnn.MeshShape(shape).mesh_size()).reshape(shape)
    return [numbers.flatten()] if axis is None else [*numbers.movedim(axis, -1).reshape(-1, shape[axis])]


def drawn(count, generator):
    """Tokens and their experts on each of `count` devices, and the mapping from experts to devices."""
    tokens = torch.randn(count, BATCH, 1, SEQUENCE, WIDTH, generator=generator).bfloat16()
    chosen = torch.rand(count, BATCH, 1, SEQUENCE, EXPERTS, generator=generator).topk(CHOSEN, -1).indices
    mapping = torch.zeros(1, 1, EXPERTS, count)
    mapping[0, 0, torch.randperm(EXPERTS, generator=generator), torch.arange(EXPERTS) % count] = 1
    return tokens, chosen.short(), mapping.short()


def on(mesh, shards, **keywords):
    return ttnn.from_torch(shards.flatten(0, 1), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0), **keywords)


def shards_of(tensor):
    return [ttnn.to_torch(own) for own in ttnn.get_device_tensors(tensor)]


@pytest.fixture(params=[((2, 2), None), ((2, 2), 0), ((2, 2), 1)], ids=str)
def case(request):
    shape, axis = request.param
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(shape), target="cpu")
    tokens, chosen, mapping = drawn(mesh.get_num_devices(), torch.Generator().manual_seed(7))
    placed = (
        on(mesh, tokens),
        on(mesh, chosen, dtype=ttnn.uint16),
        ttnn.from_torch(mapping, device=mesh, dtype=ttnn.uint16),
    )
    return mesh, axis, groups(shape, axis), (tokens, chosen, mapping), placed


@pytest.mark.parametrize("dim", [1, 2])
def test_tokens_go_to_the_devices_of_their_experts_and_other_rows_are_zeros(case, dim):
    mesh, axis, every, (tokens, chosen, mapping), placed = case
    sent, experts = ttnn.all_to_all_dispatch(*placed, cluster_axis=axis, output_concat_dim=dim, num_links=1)
    assert mesh.num_program_cache_entries() == 1
    for group in every:
        whole, indices = (torch.cat([*each[group].transpose(1, 2)], dim) for each in (tokens, chosen))
        for number in group:
            needed = mapping[0, 0, indices.long(), number].any(-1, True)
            assert 0 < needed.sum() < needed.numel()
            assert torch.equal(shards_of(sent)[number], torch.where(needed, whole, 0.0))
            assert torch.equal(shards_of(experts)[number].int(), indices.int())


def experts_of(mapping, number):
    return mapping[0, 0, :, number].nonzero().flatten().tolist()


@pytest.mark.parametrize(("dim", "local_reduce"), [(1, False), (2, True)])
def test_results_of_experts_come_back_to_the_rows_of_their_tokens(case, dim, local_reduce):
    mesh, axis, every, (_, chosen, mapping), (_, indices, placed_mapping) = case
    own, count = EXPERTS // mesh.get_num_devices(), len(every[0])
    extents = [BATCH * count, SEQUENCE] if dim == 1 else [BATCH, SEQUENCE * count]
    results = torch.randn(mesh.get_num_devices(), 1 if local_reduce else own, *extents, WIDTH).bfloat16()
    results[:, :, 0, 0] = -0.0
    experts = ttnn.all_gather(ttnn.reshape(indices, (1, BATCH, SEQUENCE, CHOSEN)), dim, cluster_axis=axis)
    combined = ttnn.all_to_all_combine(
        on(mesh, results), experts, placed_mapping, axis, local_reduce=local_reduce, output_shard_dim=dim
    )
    for group in every:
        whole = torch.cat([*chosen[group].transpose(1, 2)], dim)[0]
        expected = torch.zeros(CHOSEN, *extents, WIDTH).bfloat16()
        for number in group:
            here = experts_of(mapping, number)
            for b, s in torch.cartesian_prod(*map(torch.arange, extents)):
                of_token = [int(each) for each in whole[b, s]]
                for place, expert in enumerate(each for each in here if each in of_token):
                    if not local_reduce or place == 0:
                        row = 0 if local_reduce else here.index(expert)
                        expected[of_token.index(expert), b, s] = results[number, row, b, s]
        for number, part in zip(group, expected.chunk(count, dim), strict=True):
            found = shards_of(combined)[number]
            assert torch.equal(found.view(torch.int16), part.contiguous().view(torch.int16))


def test_given_tensors_receive_the_results(case):
    mesh, axis, every, (tokens, *_), placed = case
    n = len(every[0])
    outputs = [
        ttnn.from_torch(torch.zeros(1, BATCH * n, SEQUENCE, width), device=mesh, dtype=dtype)
        for width, dtype in ((WIDTH, ttnn.bfloat16), (CHOSEN, ttnn.uint16))
    ]
    found = ttnn.all_to_all_dispatch(*placed, cluster_axis=axis, output_tensors=outputs)
    assert [each is output for each, output in zip(found, outputs, strict=True)] == [True, True]
    assert shards_of(outputs[0])[0].any()
    output = ttnn.from_torch(torch.zeros(CHOSEN, BATCH, SEQUENCE, WIDTH).bfloat16(), device=mesh)
    results = torch.randn(mesh.get_num_devices(), EXPERTS // mesh.get_num_devices(), BATCH * n, SEQUENCE, WIDTH)
    combined = ttnn.all_to_all_combine(on(mesh, results.bfloat16()), found[1], placed[2], axis, output_tensor=output)
    assert combined is output
    assert tokens.shape[0] == mesh.get_num_devices()
    for call, named in [
        (lambda: ttnn.all_to_all_dispatch(*placed, output_concat_dim=3), "must be 1 or 2, got 3"),
        (lambda: ttnn.all_to_all_dispatch(*placed[:2], placed[1]), "needs a column for each of the"),
        (lambda: ttnn.all_to_all_dispatch(placed[0].cpu(), *placed[1:]), "not on one mesh"),
        (lambda: ttnn.all_to_all_combine(placed[0], placed[1], placed[2], axis), "and the experts of the tokens"),
    ]:
        with pytest.raises((ArgumentError, ShapeError), match=named):
            call()


def dispatched_and_combined(axis, dim, local_reduce):
    """The two exchanges with work of the experts between them."""

    def function(tokens, chosen, mapping, sent, output):
        found, experts = ttnn.all_to_all_dispatch(tokens, chosen, mapping, cluster_axis=axis, output_concat_dim=dim)
        own = 1 if local_reduce else EXPERTS // mapping.shape[3]
        results = ttnn.concat([ttnn.multiply(found, float(index + 2)) for index in range(own)], 0)
        options = {"local_reduce": local_reduce, "output_shard_dim": dim}
        combined = ttnn.all_to_all_combine(results, experts, mapping, axis, **options)
        ttnn.all_to_all_dispatch(tokens, chosen, mapping, axis, output_concat_dim=dim, output_tensors=sent)
        ttnn.all_to_all_combine(results, experts, mapping, axis, output_tensor=output, **options)
        return found, experts, combined, *sent, output

    return function


@pytest.mark.parametrize("captured", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize(("dim", "local_reduce"), [(1, False), (2, True)])
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize(("shape", "axis"), [((2, 2), None), ((2, 2), 0), ((1, 4), 1)])
def test_programs_exchange_with_experts_as_eager_calls_do_in_any_number_of_ranks(
    shape, axis, ranks, dim, local_reduce, captured
):
    function = dispatched_and_combined(axis, dim, local_reduce)
    jitted = ttnn_jit.jit(graph_capture=captured)(function)
    count = len(groups(shape, axis)[0])
    sequence, batch = (SEQUENCE, BATCH * count) if dim == 1 else (SEQUENCE * count, BATCH)

    def run(_=0):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(shape), target="cpu")
        tokens, chosen, mapping = drawn(mesh.get_num_devices(), torch.Generator().manual_seed(7))
        given = (
            on(mesh, tokens),
            on(mesh, chosen, dtype=ttnn.uint16),
            ttnn.from_torch(mapping, device=mesh, dtype=ttnn.uint16),
        )

        def outputs():
            sent = [
                ttnn.from_torch(torch.zeros(1, batch, sequence, width), device=mesh, dtype=dtype)
                for width, dtype in ((WIDTH, ttnn.bfloat16), (CHOSEN, ttnn.uint16))
            ]
            return sent, ttnn.from_torch(torch.zeros(CHOSEN, BATCH, SEQUENCE, WIDTH).bfloat16(), device=mesh)

        found = {}
        for _ in range(2):
            mine, others = outputs(), outputs()
            for index, (own, each) in enumerate(zip(jitted(*given, *mine), function(*given, *others), strict=True)):
                assert own.tensor_topology() == each.tensor_topology()
                for number, one, other in zip(own.numbers, own.tensors, each.tensors, strict=True):
                    found[index, number] = ttnn.to_torch(one)
                    assert torch.equal(found[index, number].view(torch.int16), ttnn.to_torch(other).view(torch.int16))
        return found

    expected, found = run(), {}
    for own in in_ranks(ranks, run) if ranks > 1 else [run()]:
        if isinstance(own, BaseException):
            raise own
        found |= own
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[key].view(torch.int16), each.view(torch.int16)) for key, each in expected.items())
