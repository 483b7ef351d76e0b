"""`ttnn.sampling`: the possible samples and their frequencies, against torch in float64."""

import math

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn

USERS, WIDTH, FIRST = 32, 64, 100
torch.manual_seed(0)
LOGITS = torch.randn(1, 1, USERS, WIDTH).bfloat16()
K = torch.tensor([10, 15, 20, 25, 30] * 6 + [1, 64])
P = torch.tensor([1.0, 0.3, 0.5, 0.7, 0.0] * 6 + [0.9, 0.8]).bfloat16()
TEMPERATURE = torch.tensor([1.0, 0.5] * 16).bfloat16()


@pytest.fixture(params=["cpu", "wormhole_b0"])
def arguments(request):
    with ttnn.open_device(device_id=0, target=request.param) as device:

        def rows(tensor, dtype):
            return ttnn.from_torch(tensor, dtype=dtype, device=device)

        indices = rows((torch.arange(WIDTH) + FIRST).expand(1, 1, USERS, WIDTH), ttnn.int32)
        logits = ttnn.from_torch(LOGITS, layout=ttnn.TILE_LAYOUT, device=device)
        yield logits, indices, rows(K, ttnn.uint32), rows(P, ttnn.bfloat16), rows(TEMPERATURE, ttnn.bfloat16)


def chances():
    """The probability of each index, by user."""
    logits = LOGITS[0, 0].double() * TEMPERATURE.double()[:, None]
    ordered, indices = torch.softmax(logits, -1).sort(-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    rank = torch.arange(WIDTH)[None]
    ordered *= ((rank < K[:, None]) & (before < P.double()[:, None])) | (rank == 0)
    return torch.zeros(USERS, WIDTH, dtype=torch.float64).scatter_(1, indices, ordered / ordered.sum(-1, keepdim=True))


def drawn(*arguments, **keywords):
    return ttnn.sampling(*arguments, **keywords).to_torch().long().reshape(-1) - FIRST


def test_samples_are_within_k_and_p_and_have_their_probabilities(arguments):
    draws = 100
    counts = torch.zeros(USERS, WIDTH, dtype=torch.float64)
    for seed in range(1, draws + 1):
        counts[torch.arange(USERS), drawn(*arguments, seed=seed)] += 1
    expected = chances() * draws
    assert counts[expected == 0].sum() == 0
    common = expected > 5
    freedom = int((common.sum(-1) - 1).clamp(min=0).sum())
    chi_squared = ((counts - expected) ** 2 / expected)[common].sum()
    assert freedom > 50
    assert chi_squared < freedom + 4 * math.sqrt(2 * freedom)


def test_samples_are_determined_by_their_seed_or_the_generator(arguments):
    result = ttnn.sampling(*arguments, seed=3)
    assert (tuple(result.shape), result.dtype, result.layout) == ((1, 1, 1, USERS), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    output = ttnn.zeros_like(result)
    ttnn.sampling(*arguments, seed=3, output_tensor=output)
    assert torch.equal(output.to_torch(), result.to_torch())
    ttnn.manual_seed(42)
    first, second = drawn(*arguments), drawn(*arguments)
    ttnn.manual_seed(42)
    assert torch.equal(drawn(*arguments), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("graph_capture", [False, True])
def test_programs_draw_the_samples_of_eager_calls(cpu_device, graph_capture):
    logits = ttnn.from_torch(LOGITS, layout=ttnn.TILE_LAYOUT, device=cpu_device)
    rest = [(torch.arange(WIDTH)).expand(1, 1, USERS, WIDTH).int(), K.int(), P, TEMPERATURE]
    rest = [ttnn.from_torch(each, device=cpu_device) for each in rest]
    program = ttnn_jit.jit(graph_capture=graph_capture)(lambda *given: ttnn.sampling(*given, seed=5))
    assert torch.equal(program(logits, *rest).to_torch(), ttnn.sampling(logits, *rest, seed=5).to_torch())


@pytest.mark.parametrize("index", range(5))
def test_tensors_that_do_not_fit_are_refused(arguments, index):
    wrong = [*arguments]
    wrong[index] = ttnn.reshape(wrong[index], (-1,)) if index < 2 else ttnn.slice(wrong[index], (0,), (USERS - 1,))
    with pytest.raises(ValueError, match="of sampling is"):
        ttnn.sampling(*wrong)
    wrong[index] = None
    with pytest.raises(ValueError, match=r"of sampling must be a ttnn\.Tensor"):
        ttnn.sampling(*wrong)
