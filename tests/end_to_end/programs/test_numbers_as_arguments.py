"""Numbers that change from call to call are operands of a program: few compiles serve all of them, bit for bit."""

import math

import pytest
import torch

import ttnn_jit
from tests.end_to_end.programs import number_model as model
from ttnn_jit import ttnn
from ttnn_jit.specs.target import PRESETS

X = torch.randn(33, 33)
MOST_COMPILES = 3


def jitted(function, **options):
    return ttnn_jit.jit(enable_cache=False, **options)(function)


def by_global(function):
    def call(x, number):
        model.SCALE = number
        return function(x)

    return call


def by_items(function):
    def call(x, number):
        model.TABLE["scale"], model.TABLE["shifts"][1] = number, 2 * number
        return function(x)

    return call


def by_attribute(function):
    layer = type("Layer", (model.Layer,), {"forward": function})()

    def call(x, number):
        layer.scale = number
        return layer.forward(x)

    return call


FORMS = {
    "positional": (model.scaled, lambda function: function),
    "keyword": (model.by_keyword, lambda function: lambda x, number: function(x, number=number)),
    "record": (model.of_record, lambda function: lambda x, number: function(x, model.Settings(number))),
    "containers": (model.of_containers, lambda function: lambda x, number: function(x, {"inner": [number]})),
    "global": (model.of_global, by_global),
    "items": (model.of_items, by_items),
    "attribute": (model.Layer.forward, by_attribute),
    **{
        each.__name__: (each, lambda function: function)
        for each in (
            model.epilogue, model.reduced, model.computed, model.filled, model.parameters, model.norm,
        )
    },
}  # fmt: skip


INTS = ("positional", "containers", "global", "computed", "parameters")


def counted(call, values):
    """The results of the calls with these values, and the number of compiles."""
    before = ttnn_jit.cache_info().compiles
    return [call(X, value) for value in values], ttnn_jit.cache_info().compiles - before


def bits(tensor):
    return tensor.dtype, tuple(tensor.shape), tensor.flatten().view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize(("form", "kind"), [*((form, float) for form in FORMS), *((form, int) for form in INTS)])
def test_a_changing_number_needs_few_compiles_and_gives_the_bits_of_a_cold_one(form, kind):
    function, as_call = FORMS[form]
    values = [kind(number + 2) if kind is int else 0.1 * number + 0.03 for number in range(50)]
    found, compiles = counted(as_call(jitted(function)), values)
    assert compiles <= MOST_COMPILES
    cold = as_call(jitted(function, dynamic=False))
    for index in (1, 2, 49):
        assert bits(found[index]) == bits(cold(X, values[index]))


def test_a_changing_seed_needs_few_compiles():
    values = [number + 3 for number in range(20)]
    found, compiles = counted(jitted(model.seeded), values)
    assert compiles <= MOST_COMPILES
    cold = jitted(model.seeded, dynamic=False)
    assert all(torch.equal(found[index], cold(X, values[index])) for index in (1, 19))
    assert not torch.equal(found[4], found[5])


@pytest.mark.parametrize("function", [model.mean, model.normalized])
def test_a_number_that_is_made_of_an_open_extent_fixes_nothing(function):
    generic, cold = jitted(function), jitted(function, dynamic=False)
    before = ttnn_jit.cache_info().compiles
    inputs = [torch.randn(40, width) for width in range(41, 60)]
    found = [generic(each) for each in inputs]
    assert ttnn_jit.cache_info().compiles - before <= MOST_COMPILES
    for index in (1, 2, 18):
        assert bits(found[index]) == bits(cold(inputs[index]))


SPECIAL = [0.5, 0.25, 0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-41, 1e300, 3.4028234663852886e38, -2.5]


@pytest.mark.filterwarnings("ignore:.* was compiled for 16 values", "ignore:.* compiles every size by itself")
def test_numbers_that_fold_have_the_bits_of_a_cold_compile():
    generic, cold = jitted(model.scaled), jitted(model.scaled, dynamic=False)
    x = torch.tensor([[math.nan, math.inf, -0.0, 1e-40, 3.0, -2.0]])
    for _ in range(2):
        for number in (*SPECIAL, 2, 7, 0, 1, -1, -9, 1 << 31, -(1 << 40), True):
            assert bits(generic(x, number)) == bits(cold(x, number)), number


def test_an_eager_operation_takes_changing_numbers():
    device = ttnn.open_device(device_id=0, target=PRESETS["cpu"])
    x = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)
    before = ttnn_jit.cache_info().compiles
    for number in range(40):
        value = 0.1 * number + 0.53
        torch.testing.assert_close(ttnn.to_torch(ttnn.multiply(x, value)), X * value)
        torch.testing.assert_close(ttnn.to_torch(ttnn.clamp(x, -value, value)), X.clamp(-value, value))
    assert ttnn_jit.cache_info().compiles - before <= 2 * 2


def test_an_integer_number_of_integers_is_exact():
    x = torch.arange(99, dtype=torch.int32)
    generic = jitted(model.scaled)
    before = ttnn_jit.cache_info().compiles
    for number in (*range(2, 30), 123_456_789, *range(-30, -2)):
        assert torch.equal(generic(x, number), x * number + number)
    assert ttnn_jit.cache_info().compiles - before <= MOST_COMPILES


def test_a_use_that_needs_the_number_is_explained_by_its_value():
    named = jitted(model.named)
    for number in (0.5, 0.25):
        named(X, number)
    first, last, of_disk = ttnn_jit.explain_miss(named, X, 0.125).splitlines()
    assert of_disk == "enable_cache=False: nothing is on disk"
    assert first == "template 1 of 1 needs number == 0.25: number is 0.125"
    assert last.startswith('    specialised on 0.25: `f"{number} of them"`')
    chosen = jitted(model.computed)
    for number in (0.5, 0.25):
        chosen(X, number)
    assert ttnn_jit.explain_miss(chosen, X, 0.5) == "nothing differs but sizes: a template in memory serves this call"
    assert ttnn_jit.explain_miss(chosen, X, -3.0).splitlines()[0] == "template 1 of 1 needs 0.01 < number"


def test_endless_numbers_keep_a_limited_number_of_programs():
    function = jitted(model.scaled)
    for number in range(600):
        function(X, number + 0.5)
    assert function.num_entries <= 256
