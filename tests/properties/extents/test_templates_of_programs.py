"""Programs by templates give the bits of programs that are compiled for their sizes."""

import pytest

import ttnn_jit
from tests.properties.extents.random_programs import RandomProgram
from tests.sampling import drawn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import TtnnJitError

FEWEST = 40
"""So many sizes have the share of served calls that is asserted."""


def outcome(function, tensors):
    """The bits of the results, or the error."""
    try:
        found = function(*tensors)
    except TtnnJitError as error:
        return type(error).__name__, error.message
    return [(tuple(each.shape), each.numpy().tobytes()) for each in (found if isinstance(found, tuple) else (found,))]


def compared(seed, count):
    """How many of `count` calls with random sizes above 1 a template served that was made for other sizes."""
    program = RandomProgram(seed)
    function = program.function()
    dynamic = ttnn_jit.jit(dynamic=None, enable_cache=False)(function)
    fixed = ttnn_jit.jit(dynamic=False, enable_cache=False)(function)
    served = asked = 0
    for a, b in program.sizes(count):
        tensors = program.tensors(a, b)
        before = COUNTERS.compiles
        found = outcome(dynamic, tensors)
        compiled_nothing = COUNTERS.compiles == before
        assert found == outcome(fixed, tensors), f"sizes {a}, {b} of\n{program.text}"
        assert outcome(dynamic, tensors) == found, "the second call"
        if min(a, b) > 1 and not isinstance(found[0], str):
            asked += 1
            served += compiled_nothing
    return served, asked


@pytest.mark.filterwarnings("ignore:.* compiles every size by itself")
def test_random_programs_give_the_same_bits_for_changing_sizes():
    served = asked = 0
    for seed in range(drawn(60)):
        own, of = compared(seed, max(FEWEST, drawn(80)))
        served, asked = served + own, asked + of
    assert served >= 0.6 * asked, f"{served} of {asked}"
