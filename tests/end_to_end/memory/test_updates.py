"""Updates of arguments: later reads see them, and they are complete after the program or do not happen."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy
import pytest
import torch

import ttnn_jit
from tests.end_to_end.memory.updated import BOTH, EVERY_LIBRARY, LIBRARIES, _generator, added, whole
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, ShapeError, TtnnJitError
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.dialects.verifier import InvalidModule, verify
from ttnn_jit.ops import IN_PLACE
from ttnn_jit.ops.public_names import PUBLIC_NAMES

# --- Arguments ------------------------------------------------------------------------------------------------------


@BOTH
@EVERY_LIBRARY
def test_a_written_argument_is_returned_as_the_same_object(graph_capture, library, device):
    make, read = LIBRARIES[library]
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(added)
    x, y = whole(), whole()
    given, other = make(device, x), make(device, y)
    for times in (1, 2, 3):
        assert jitted(given, other) is given
        assert torch.equal(read(given), x + times * y)
    assert torch.equal(read(other), y)


@BOTH
@EVERY_LIBRARY
def test_an_update_needs_no_return(graph_capture, library, device):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def scale(x, y):
        ttnn.multiply_(x, y)

    make, read = LIBRARIES[library]
    x, y = whole(), whole()
    given = make(device, x)
    assert scale(given, make(device, y)) is None
    assert torch.equal(read(given), x * y)


@BOTH
@EVERY_LIBRARY
def test_reads_after_a_write_see_it_and_those_before_do_not(graph_capture, library, device):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x, y):
        before = ttnn.multiply(x, 2.0)
        also = x
        ttnn.add_(x, y)
        return {"before": before, "after": ttnn.multiply(also, 2.0), "itself": also}

    make, read = LIBRARIES[library]
    x, y = whole(), whole()
    given = make(device, x)
    results = run(given, make(device, y))
    assert results["itself"] is given
    assert torch.equal(read(results["before"]), x * 2)
    assert torch.equal(read(results["after"]), (x + y) * 2)


@BOTH
@EVERY_LIBRARY
def test_an_output_tensor_is_written_and_returned(graph_capture, library, device):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x, y, z):
        return ttnn.add(x, y, output_tensor=z), ttnn.subtract(z, x, optional_output_tensor=y)

    make, read = LIBRARIES[library]
    expected = whole()
    x, y, z = (make(device, tensor) for tensor in (whole(), expected, whole()))
    first, second = run(x, y, z)
    assert first is z
    assert second is y
    assert torch.equal(read(second), expected)


@BOTH
def test_an_output_tensor_of_another_dtype_is_rounded_to_once(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x, y, z):
        return ttnn.multiply(x, y, output_tensor=z)

    x, y = (torch.randn(32, 32, generator=_generator) for _ in range(2))
    z = torch.zeros(32, 32, dtype=torch.bfloat16)
    assert run(x, y, z) is z
    assert torch.equal(z, (x * y).bfloat16())


def test_every_name_with_an_underscore_that_ttnn_has_writes_into_its_first_operand(device):
    public = {name for name in PUBLIC_NAMES if name.endswith("_") and not name.endswith("config_")}
    assert public - set(IN_PLACE) == {"bias_gelu_"}
    assert {name for name in IN_PLACE if "." not in name} <= PUBLIC_NAMES
    x, y = whole(), whole()
    for name, (operation, *_) in IN_PLACE.items():
        if operation.name in IN_PLACE:
            continue  # there is no other form to compare with
        others = [on_device(device, y)] * (operation.arity - operation.optional_operands - 1)
        plain = attrgetter(operation.name)(ttnn)(on_device(device, x), *others)
        given = on_device(device, x)
        assert attrgetter(name)(ttnn)(given, *others) is given
        assert ttnn.to_torch(given).equal(ttnn.to_torch(plain)) or ttnn.to_torch(plain).isnan().any()


def on_device(device: Any, tensor: torch.Tensor) -> Any:
    return LIBRARIES["ttnn"][0](device, tensor)


def test_in_place_operations_take_activations_eagerly(device):
    x, y = whole(), whole()
    given = on_device(device, x)
    ttnn.add_(given, on_device(device, y), activations=["relu"])
    assert torch.equal(ttnn.to_torch(given), torch.relu(x + y))


@pytest.mark.parametrize("jitted", [False, True])
def test_a_result_that_does_not_fit_is_refused_and_nothing_is_written(jitted, device):
    run = ttnn_jit.jit()(added) if jitted else ttnn.add_
    x = whole(1, 32)
    given = on_device(device, x)
    with pytest.raises(CompileError if jitted else ShapeError):
        run(given, on_device(device, whole(32, 32)))
    assert torch.equal(ttnn.to_torch(given), x)


# --- Idioms of torch and numpy ----------------------------------------------------------------------------------------


def methods(x, y):
    x.add_(y).mul_(y)
    x -= y
    x *= 2.0
    x /= 4.0
    return x


@BOTH
def test_methods_and_operators_of_torch_write_as_in_torch(graph_capture):
    x, y = whole(), whole()
    expected = methods(x.clone(), y)
    version = x._version
    assert ttnn_jit.jit(graph_capture=graph_capture)(methods)(x, y) is x
    assert torch.equal(x, expected)
    assert x._version > version


@BOTH
def test_an_augmented_assignment_rebinds_the_name_of_a_ttnn_tensor(graph_capture, device):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x, y):
        z = x
        z += y
        return z

    x, y = whole(), whole()
    given = on_device(device, x)
    assert torch.equal(ttnn.to_torch(run(given, on_device(device, y))), x + y)
    assert torch.equal(ttnn.to_torch(given), x)


def parts(x, y):
    x[0] = y[1]
    x[1:5:2, ::3] = 7.0
    x[..., 2] += y[..., 0]
    x[None, 8:9] = y[:1]
    x[-1, -1] = 3.0
    row = x[4]
    row *= 2.0
    x[5:7, 1:] = row[1:]
    x[6] = x[7]
    y[...] = x


@BOTH
@pytest.mark.parametrize("library", ["torch", "numpy"])
@pytest.mark.parametrize("laid", ["dense", "transposed", "strided"])
def test_slices_are_written_as_in_torch(graph_capture, library, laid):
    shapes = {"dense": (10, 12), "transposed": (12, 10), "strided": (10, 24)}
    views = {"dense": lambda t: t, "transposed": lambda t: t.T, "strided": lambda t: t[:, ::2]}
    make, read = LIBRARIES[library]
    x, y = whole(*shapes[laid]), whole(*shapes[laid])
    given, other = make(None, x), make(None, y)
    parts(views[laid](x), views[laid](y))
    assert ttnn_jit.jit(graph_capture=graph_capture)(parts)(views[laid](given), views[laid](other)) is None
    assert torch.equal(read(given), x)
    assert torch.equal(read(other), y)


def test_slices_are_written_by_numba_too():
    x, y = whole(10, 12), whole(10, 12)
    given, other = x.clone(), y.clone()
    parts(x, y)
    ttnn_jit.jit(backend="numba")(parts)(given, other)
    assert torch.equal(given, x)
    assert torch.equal(other, y)


def test_slices_of_ttnn_tensors_are_written_eagerly_as_inside_a_program(device, cpu_device):
    def run(x, y):
        x[0] = y[1]
        x[1:5:2, ::3] = 7.0
        x[:, 2:3] = y[:1, :1]
        x[...] = ttnn.add(x, y)

    x, y = whole(), whole()
    expected = x.clone()
    expected[0] = y[1]
    expected[1:5:2, ::3] = 7.0
    expected[:, 2:3] = y[:1, :1]
    expected += y
    jitted = (ttnn_jit.jit()(run), ttnn_jit.jit(graph_capture=True)(run))
    for where, call in ((device, run), *((cpu_device, call) for call in (run, *jitted))):
        given = on_device(where, x)
        assert call(given, on_device(where, y)) is None
        assert torch.equal(ttnn.to_torch(given), expected)


@BOTH
def test_whole_tiles_are_written_on_chip_targets_too(graph_capture, device):
    def run(x, y):
        x[32:64] = y
        x[:32, 32:] = 2.0

    x, y = whole(96, 64), whole(32, 64)
    given = on_device(device, x)
    run(x, y)
    ttnn_jit.jit(graph_capture=graph_capture)(run)(given, on_device(device, y))
    assert torch.equal(ttnn.to_torch(given), x)


@BOTH
def test_a_slice_of_a_ttnn_tensor_has_memory_of_its_own(graph_capture, cpu_device):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x):
        part = x[0:2]
        ttnn.add_(part, 1.0)
        return part

    x = whole(4, 6)
    given = ttnn.from_torch(x, device=cpu_device)
    assert torch.equal(ttnn.to_torch(run(given)), x[0:2] + 1)
    assert torch.equal(ttnn.to_torch(given), x)


def test_a_function_that_falls_back_writes_too():
    @ttnn_jit.jit(fallback=True)
    def run(x, y):
        ttnn.add_(x, y)
        return torch.flip(x, (0,))

    x, y = whole(4, 6), whole(4, 6)
    expected = x + y
    with pytest.warns(UserWarning, match="plain"):
        assert torch.equal(run(x, y), expected.flip((0,)))
    assert torch.equal(x, expected)


def test_invalid_writes_are_refused():
    jitted = ttnn_jit.jit()(added)
    array = numpy.ones((3, 4), numpy.float32)
    array.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ArgumentError, match="is read-only"):
            jitted(array, numpy.ones((3, 4), numpy.float32))
        with pytest.raises(ArgumentError, match="several elements at one address"):
            jitted(torch.ones(4).expand(3, 4), torch.ones(3, 4))
    assert array.sum() == 12


def test_a_leaf_that_requires_a_gradient_is_written_only_under_no_grad():
    jitted = ttnn_jit.jit()(added)
    x, y = torch.ones(3, 4, requires_grad=True), torch.ones(3, 4)
    with pytest.raises(ArgumentError, match="requires grad"):
        jitted(x, y)
    with torch.no_grad():
        assert jitted(x, y) is x
    assert x.detach().sum() == 24


# --- Hidden inputs ----------------------------------------------------------------------------------------------------


class Cache:
    def __init__(self, keys: Any) -> None:
        self.keys = keys


CACHE = Cache(None)


@BOTH
@EVERY_LIBRARY
def test_a_tensor_in_an_attribute_of_a_global_is_written_too(graph_capture, library, device):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x):
        ttnn.add_(CACHE.keys, x)
        return ttnn.multiply(CACHE.keys, 2.0)

    make, read = LIBRARIES[library]
    x, keys = whole(), whole()
    for _ in range(2):
        CACHE.keys = make(device, keys)
        for times in (1, 2):
            assert torch.equal(read(run(make(device, x))), (keys + times * x) * 2)
            assert torch.equal(read(CACHE.keys), keys + times * x)
    assert run.num_entries == 1


# --- IR -------------------------------------------------------------------------------------------------------------


def text_of(*arguments: Any, graph_capture: bool | None = None) -> str:
    return ttnn_jit.jit(graph_capture=graph_capture)(parts).ir(*arguments)


def test_both_frontends_produce_the_same_updates_which_round_trip_through_text():
    x, y = whole(10, 12), whole(10, 12)
    text = text_of(x, y)
    assert text == text_of(x, y, graph_capture=True)
    assert "%arg0: tensor<10x12xf32, #ttnn_layout> {ttcore.updated_by = 0 : i64}" in text
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("updated_by = 0", "updated_by = 2", "names result #2 of 2"),
        ("updated_by = 0", "updated_by = -1", "names result #-1 of 2"),
        ("updated_by = 0", "updated_by = 1", "names one result for several arguments"),
        ("updated_by = 0 : i64", 'updated_by = "x"', "is the index of a result"),
    ],
)
def test_an_update_by_a_value_of_another_type_is_refused(old, new, message):
    text = text_of(whole(10, 12), whole(10, 12)).replace(old, new, 1)
    with pytest.raises(InvalidModule, match=message):
        verify(parse_module(text))


def test_a_refused_program_points_at_its_write():
    @ttnn_jit.jit()
    def run(x, y):
        ttnn.add_(x, y)
        return x

    with pytest.raises(TtnnJitError, match=r"`add_` has a result of shape \[3, 4\], and writes into a tensor of \[4\]"):
        run(torch.ones(4), torch.ones(3, 4))


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(("shape", "other_shape"), [((3, 5), (5, 3)), ((2, 33, 64), (33, 128)), ((40, 6), (6, 40))])
def test_an_operand_that_is_copied_to_other_rows_may_be_written_twice_by_one_copy(shape, other_shape, graph_capture):
    device = ttnn.open_device(target="cpu")
    values = torch.randn(2, *shape)
    x, y = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in values)

    @ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)
    def updated(x, y):
        ttnn.copy(ttnn.add(x, 1.0), y)
        return ttnn.neg(ttnn.reshape(y, other_shape))

    result = updated(x, y)
    assert torch.equal(ttnn.to_torch(y), values[0] + 1.0)
    assert torch.equal(ttnn.to_torch(result), -(values[0] + 1.0).reshape(other_shape))
