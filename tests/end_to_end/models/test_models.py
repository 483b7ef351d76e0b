"""Whole models, written as programs for a card are, against torch: eagerly on both targets, and jitted on cpu."""

import ast
import math

import pytest
import torch

import ttnn_jit
from benchmarks.programs.model_programs import MODELS, module_of, names
from ttnn_jit import ttnn

LEAST = 0.99
"""Pearson's correlation with torch in float32, of random weights in bfloat16."""
CLOSER = {"resnet50": (0.9999, 4), "simple_cnn": (0.9999, 4), "unet_block": (0.9999, 4)}
"""The same of models without block floats, and their worst error in units of bfloat16's last place at the largest."""


@pytest.fixture(scope="module")
def modules():
    return {name: module_of(name) for name in names()}


ON_CHIPS = (0.9998, 8)
"""Those of `CLOSER` where products are HiFi2 and add up in bfloat16, as ttnn's are by default."""


def check(name, run, reference, target="cpu"):
    with torch.no_grad():
        wanted = reference().float()
    got = ttnn.to_torch(run()).float()
    closer = CLOSER if target == "cpu" else dict.fromkeys(CLOSER, ON_CHIPS)
    least, ulps = closer.get(name, (LEAST, math.inf))
    assert ttnn.pearson_correlation_coefficient(wanted, got) > least
    largest = float(wanted.abs().max())
    assert float((got - wanted).abs().max()) <= ulps * 2.0 ** (math.frexp(largest)[1] - 8)


def eagerly(target):
    def check_model(module, name):
        device = ttnn.open_device(device_id=0, target=target)
        run, reference = module.build(module.SMALL, device)
        check(name, run, reference, target)
        ttnn.close_device(device)

    return check_model


def jitted_once(module, name):
    jitted = []

    def compiled(function):
        jitted.append(ttnn_jit.jit()(function))
        return jitted[-1]

    device = ttnn.open_device(device_id=0, target="cpu")
    run, reference = module.build(module.SMALL, device, compiled=compiled)
    check(name, run, reference)
    before = [function.num_entries for function in jitted]
    run()
    assert [function.num_entries for function in jitted] == before
    assert all(count >= 1 for count in before)
    ttnn.close_device(device)


WAYS = {"cpu": eagerly("cpu"), "wormhole_b0": eagerly("wormhole_b0"), "jitted": jitted_once}


@pytest.mark.filterwarnings("ignore:.*on an operation is ignored inside a jitted function")
@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("check_model", WAYS.values(), ids=WAYS)
def test_a_model_gives_what_torch_gives_and_a_jitted_one_is_one_program_that_serves_every_call(
    modules, name, check_model
):
    check_model(modules[name], name)


@pytest.mark.parametrize("name", names())
def test_a_model_is_a_script_with_a_full_configuration(modules, name):
    assert type(modules[name].FULL) is type(modules[name].SMALL)
    assert ast.parse((MODELS / f"{name}.py").read_text(encoding="utf-8")).body[-1].test.left.id == "__name__"
