"""Every size and number of a request has a name, and nothing else has one."""

from __future__ import annotations

import pytest

from tests.unit.compiler.test_driver import REQUESTS, SPEC
from ttnn_jit.compiler.request import OperationRequest
from ttnn_jit.compiler.template import sizes_of
from ttnn_jit.ops import OPERATIONS
from ttnn_jit.specs.target import PRESETS

ATTRIBUTES = {
    "permute": ((1, 0),),
    "leaky_relu": (0.1,),
    "clamp": (-1.0, 1.0),
    "transpose": (0, 1),
    "softmax": (-1, False),
}


def counts(rows):
    return [len(row) for row in rows]


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_names_its_sizes(name):
    assert counts(REQUESTS[name].names_of_sizes) == counts(sizes_of(REQUESTS[name]))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_that_stay_fixed_have_no_names(name):
    operation = next(each for each in OPERATIONS if each.name == name and len(each.attributes) == len(ATTRIBUTES[name]))
    request = OperationRequest(operation, (SPEC,), ATTRIBUTES[name], PRESETS["cpu"])
    assert counts(request.names_of_sizes) == counts(sizes_of(request))
