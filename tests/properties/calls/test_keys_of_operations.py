"""Every argument with an effect is in the key: equal keys are one program, in memory and on disk.

All calls of `tests/argument_walk.py` are asked for their keys; some run in processes that share a cache folder, in
several orders, and must give what each gives alone, without a folder.
"""

from __future__ import annotations

import json
import math
import os
import warnings
import zlib
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from hypothesis import settings

import ttnn_jit
from tests import argument_walk
from tests.argument_walk import ALONE, functions
from tests.host_calls import HOST, Made
from tests.processes import run_python
from tests.sampling import shown
from ttnn_jit import ttnn
from ttnn_jit.cache import key as keys
from ttnn_jit.compiler.stored_programs import content_key, notes_of, request_key
from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops import OPERATIONS
from ttnn_jit.ttnn.functions.gradients import GRADIENTS

ROOT = Path(__file__).parents[3]


class Requested(Exception):  # noqa: N818 - it is none
    """The compile request of a call."""


@pytest.fixture(scope="module")
def requests():
    """The compile requests of every call of the walk, each once; a sample shows few of those on chips."""
    found = {}

    def requested(_, __, request, *___, **____):
        raise Requested(request)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(TemplatesOnDemand, "compilation", requested)
        patch.setattr(Made, "on", cache(Made.on))  # no call runs, hence none writes into a tensor
        names = (*functions(), *HOST)
        on_chips = argument_walk.calls(shown("calls on a chip", names), ["wormhole_b0"])
        for call in (*argument_walk.calls(names, ["cpu"]), *on_chips):
            try:
                call.run()
            except Requested as error:
                (request,) = error.args
                found.setdefault(repr((request.operation.fingerprint, request)), request)
            except TtnnJitError:
                pass
    return list(found.values())


def wrong_groups(requests, key_of):
    """Requests with equal keys and different content, by key."""
    groups = defaultdict(list)
    for request in requests:
        groups[key_of(request)].append(request)
    for group in groups.values():
        if len(group) > 1 and len({*map(content_of, group)}) > 1:
            yield group


def content_of(request):
    """The text of the program of a request; its error, if it has none."""
    try:
        lowered = request.lower()
    except TtnnJitError as error:
        return error.message
    return content_key(request, lowered, notes_of(request, lowered)).digest


def test_no_two_operations_have_the_same_fingerprint():
    gradients = {each for function in GRADIENTS.values() for each in function.__ttnn_overloads__}
    declared = {*OPERATIONS, *gradients}
    assert len(declared) > 370
    assert len({each.fingerprint for each in declared}) == len(declared)


def test_equal_keys_are_one_program(requests):
    assert len(requests) > 10_000
    assert len({request.operation for request in requests}) > 340
    assert next(wrong_groups(requests, lambda request: request_key(request).digest), None) is None


def test_every_part_of_the_key_is_needed(requests):
    texts = {id(each): {name: keys.typed_text(part) for name, part in each.parts.items()} for each in requests}
    parts = {name for each in texts.values() for name in each}
    assert parts == {"operation", "operands", "attributes", "dtype", "activations", "operand activations", "in place"}
    for part in parts:

        def without(request, part=part):
            kept = tuple((name, text) for name, text in texts[id(request)].items() if name != part)
            return kept, request.options, request.target, request.name

        assert next(wrong_groups(requests, without), None) is not None, part
    for field in ("options", "target"):

        def ignoring(request, field=field):
            return replace(
                keys.Key.for_this_host("m", request.parts, request.options, request.target), **{field: None}
            ).digest

        assert next(wrong_groups(requests, ignoring), None) is not None, field


def test_the_key_with_the_name_of_the_ir_operation_alone_did_not_distinguish_roundings(requests):
    def by_name(request):
        parts = {**request.parts, "operation": request.operation.ttnn_name}
        return keys.Key.for_this_host("m", parts, request.options, request.target, function=request.name).digest

    found = [group for group in wrong_groups(requests, by_name) if len({each.operation for each in group}) > 1]
    assert {request.operation.name for group in found for request in group} >= {"divide", "div_bw", "rdiv_bw"}


class Walk(NamedTuple):
    """How much of the walk runs.

    Attributes:
        one_of: Of how many functions one has its calls run; all of them take seven minutes.
        shared: Those of several declarations whose calls run too.
        orders: The orders of the calls, each in a process of its own.
    """

    one_of: int = 12
    shared: tuple[str, ...] = ("divide", "div_bw", "rdiv_bw", "split")
    orders: tuple[str, ...] = ("forward", "reversed", "shuffled")


WALKS = {"sample": Walk(768, ("rdiv_bw", "split"), ("forward", "reversed")), "fuzz": Walk(1)}
"""By profile. That what has one key is one program is asked of all calls in every profile, without a process."""


def walk():
    return WALKS.get(settings.get_current_profile_name(), Walk())


def chosen():
    """The functions whose calls run: those with several declarations of one name, and one of a few others."""
    several = {name for name, function in functions().items() if len([*function.__ttnn_overloads__]) > 1}
    assert several >= {*walk().shared}
    return [
        name
        for name in (*functions(), *HOST)
        if zlib.crc32(name.encode()) % walk().one_of == 0 or name in walk().shared
    ]


@pytest.mark.slow
@pytest.mark.process
def test_no_result_depends_on_earlier_compiles_in_this_process_or_another(tmp_path):
    folder = tmp_path / "cache"
    alone = run(ALONE, folder, TTNN_JIT_CACHE="0")
    assert sum(len(each) == 64 for each in alone.values()) > len(alone) / 2
    for order in walk().orders:
        found = run(order, folder)
        assert {label: (alone[label], each) for label, each in found.items() if each != alone[label]} == {}


def run(order, folder, **environment):
    """The result of each call in a process that makes all of them in an order."""
    environment = {**os.environ, "TTNN_JIT_CACHE_DIR": str(folder), "TTNN_JIT_CACHE": "1", **environment}
    done = run_python("-m", "tests.argument_walk", order, *chosen(), cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("numbers", [(0.0, -0.0), (-0.0, 0.0)])
def test_zeros_of_both_signs_are_distinct_for_a_routine(numbers, cpu_device):
    x, indices = torch.ones(3, 40), torch.tensor([1, 2], dtype=torch.int32)
    tensors = [ttnn.from_torch(each, device=cpu_device) for each in (x, indices)]
    ttnn_jit.cache_clear()
    for number in numbers:
        filled = ttnn.to_torch(ttnn.index_fill(tensors[0], 1, tensors[1], number))
        assert torch.equal(torch.signbit(filled[:, 1:3]), torch.full((3, 2), math.copysign(1.0, number) < 0))
