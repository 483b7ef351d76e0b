"""Specs as JSON round trip, and invalid JSON is refused."""

from __future__ import annotations

import json

import pytest

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.runtime.plans.spec_json import spec_from_json, spec_to_json
from ttnn_jit.specs.tensor_spec import (
    BufferType,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    TensorSpec,
)

CORES = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(1, 1))])
TILED = TensorSpec((64, 96), DataType.BFLOAT16, Layout.TILE, buffer_type=BufferType.L1)
SPECS = {
    "of no dimensions": TensorSpec((), DataType.FLOAT32),
    "tiled": TILED,
    "strided": TensorSpec((3, 4), DataType.FLOAT32, strides=(1, -7)),
    "sharded": TILED.block_sharded(CORES),
    "ND sharded": TILED.sharded((32, 32), CORES),
}
NO_NUMBERS = (1.5, 1.0, True, None, "32", [32], -1)


@pytest.mark.parametrize("name", SPECS)
def test_written_fields_round_trip(name):
    assert spec_from_json(json.loads(json.dumps(spec_to_json(SPECS[name])))) is SPECS[name]


def paths(fields, path=()):
    """The path of every number in JSON fields."""
    if type(fields) is int:
        yield path
    for key in range(len(fields)) if isinstance(fields, list) else fields if isinstance(fields, dict) else ():
        yield from paths(fields[key], (*path, key))


EVERY = [pytest.param(name, path, id=f"{name}: {path}") for name in SPECS for path in paths(spec_to_json(SPECS[name]))]


@pytest.mark.parametrize(("name", "path"), EVERY)
def test_a_number_that_is_no_int_is_refused_in_every_field(name, path):
    for wrong in NO_NUMBERS:
        fields = holder = spec_to_json(SPECS[name])
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = wrong
        if path[0] == "strides" and type(wrong) is int:
            continue  # a stride may be any int
        with pytest.raises((KeyError, TypeError, ValueError, TtnnJitError)):
            spec_from_json(fields)
