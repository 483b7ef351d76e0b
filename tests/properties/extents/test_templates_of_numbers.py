"""Programs by templates give the bits of programs that are compiled for their numbers."""

import pytest
import torch

import ttnn_jit
from tests.properties.extents.number_programs import NumberProgram
from tests.sampling import drawn
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import TtnnJitError

pytestmark = pytest.mark.filterwarnings("ignore:.* compile", "ignore:.* was compiled")


def outcome(function, arguments):
    """The bits of the result, or the error."""
    try:
        found = function(*arguments)
    except TtnnJitError as error:
        return type(error).__name__, error.message
    if isinstance(found, ttnn.Tensor):
        found = ttnn.to_torch(found)
    return tuple(found.shape), found.dtype, found.flatten().view(torch.uint8).numpy().tobytes()


def compared(seed, count, special, device=None):
    """How many of `count` calls, after the first, compiled nothing, and of how many that are no errors.

    On a device of a chip, if one is given.
    """
    program = NumberProgram(seed)
    dynamic, fixed = (program.function(ttnn_jit.jit(dynamic=dynamic, enable_cache=False)) for dynamic in (None, False))
    tensors, served, asked = program.tensors(), 0, -1
    if device is not None:
        tensors = [ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device) for x in program.tensors(32, 64)]
    for v, i in program.numbers(count, special=special):
        before = COUNTERS.compiles
        found = outcome(dynamic, (*tensors, v, i))
        compiled_nothing = COUNTERS.compiles == before
        assert found == outcome(fixed, (*tensors, v, i)), f"v, i = {v!r}, {i} by {program.form} of\n{program.text}"
        assert outcome(dynamic, (*tensors, v, i)) == found, "the second call"
        if not isinstance(found[0], str):
            asked += 1
            served += compiled_nothing
    return served, max(asked, 0)


def test_random_programs_give_the_same_bits_for_changing_numbers():
    served = asked = 0
    for seed in range(drawn(16)):
        own, of = compared(seed, 12, special=0)
        served, asked = served + own, asked + of
    assert served >= 0.6 * asked, f"{served} of {asked}"


def test_random_programs_on_a_chip_give_the_same_bits_for_changing_numbers(device):
    served = asked = 0
    for seed in range(2000, 2000 + drawn(18)):
        own, of = compared(seed, 6, special=0.1, device=device)
        served, asked = served + own, asked + of
    assert served >= 0.4 * asked > 0, f"{served} of {asked}"


def test_random_programs_give_the_same_bits_for_special_numbers():
    assert sum(compared(seed, 12, special=0.5)[1] for seed in range(1000, 1000 + drawn(12)))
