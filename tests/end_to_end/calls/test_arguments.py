"""The arguments that a jitted function accepts, and the errors for all others."""

from __future__ import annotations

import copy
import dataclasses
import enum
import operator
import types

import numpy as np
import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import (
    ArgumentError,
    CompileError,
    DeallocatedError,
    DTypeError,
    LayoutError,
    ShapeError,
)


@ttnn_jit.jit()
def double(x):
    return x + x


@ttnn_jit.tile_op
def squared(x):
    return x * x


@ttnn_jit.jit()
def pair(x, y):
    return {"sum": x + y, "both": (x * y, x)}


TENSORS = {
    "dense": torch.randn(5, 7),
    "transposed": torch.randn(7, 5).T,
    "every second column": torch.randn(6, 10)[:, ::2],
    "expanded": torch.randn(1, 4).expand(3, 4),
    "0-d": torch.tensor(2.5),
    "1-d": torch.randn(33),
    "4-d permuted": torch.randn(2, 3, 4, 5).permute(3, 1, 0, 2),
    "empty": torch.empty(0, 4),
    "one element": torch.randn(1, 1),
    "offset by one element": torch.randn(65)[1:],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", TENSORS)
def test_torch_tensors_of_any_strides_are_used_without_a_copy(name, dtype):
    x = (
        TENSORS[name].to(dtype)
        if name in {"dense", "0-d", "1-d"}
        else TENSORS[name].to(dtype).clone().copy_(TENSORS[name])
    )
    x = torch.as_strided(x.contiguous(), x.shape, x.stride()) if name == "dense" else x
    before = x.clone()
    result = double(x)
    assert result.dtype is dtype
    assert torch.equal(result, before + before)
    assert torch.equal(x, before)


@pytest.mark.parametrize("name", TENSORS)
def test_a_view_gives_the_numbers_of_its_copy(name):
    x = TENSORS[name]
    assert torch.equal(ttnn_jit.jit()(programs.cosh)(x), ttnn_jit.jit()(programs.cosh)(x.contiguous()))


def test_numpy_arrays_give_numpy_arrays():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::-1]
    result = double(x)
    assert isinstance(result, np.ndarray)
    assert (result == x + x).all()


def test_several_results_keep_the_structure_that_the_function_returns():
    x, y = torch.randn(4), torch.randn(4)
    result = pair(x, y)
    assert list(result) == ["sum", "both"]
    assert torch.equal(result["sum"], x + y)
    assert isinstance(result["both"], tuple)
    assert torch.equal(result["both"][0], x * y)
    assert result["both"][1] is x


def test_keywords_and_defaults_bind_as_python_binds_them():
    @ttnn_jit.jit()
    def scaled(x, *, factor=2.0, shift=1.0):
        return x * factor + shift

    x = torch.randn(3)
    assert torch.equal(scaled(x), x * 2.0 + 1.0)
    assert torch.equal(scaled(shift=0.5, x=x), x * 2.0 + 0.5)
    assert scaled.num_entries == 2


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((4, 6), (1, 6)), (4, 6)),
        (((4, 6), (4, 1)), (4, 6)),
        (((4, 6), (1, 1)), (4, 6)),
        (((6,), (4, 6)), (4, 6)),
        (((3, 1, 5), (1, 4, 5)), (3, 4, 5)),
        (((2, 1, 3, 1), (5, 1, 7)), (2, 5, 3, 7)),
        (((0, 3), (1, 3)), (0, 3)),
    ],
)
def test_operands_broadcast_as_torch_broadcasts(shapes, expected):
    a, b = (torch.randn(shape) for shape in shapes)

    @ttnn_jit.jit()
    def both(x, y):
        return ttnn.exp(x) * y - x

    result = both(a, b)
    assert result.shape == expected
    # Compared with torch only in shape and for exact operations; exp has tests of its own.
    exp = ttnn_jit.jit()(lambda v: ttnn.exp(v))(a)
    assert torch.equal(result, exp * b - a)


def test_two_tensors_in_one_memory_are_read_before_anything_is_written():
    x = torch.randn(100)
    assert torch.equal(pair(x[:50], x[25:75])["sum"], x[:50] + x[25:75])


REFUSED = [
    (torch.randn(3, dtype=torch.float64), DTypeError, r"torch\.float64.*\n.*tensor\.to\(torch\.float32\)"),
    (torch.arange(3).to(torch.complex64), DTypeError, r"torch\.complex64"),
    (np.zeros(3), DTypeError, r"float64.*\n.*astype"),
    (torch.randn(3, requires_grad=True), ArgumentError, r"requires grad.*\n.*detach"),
    (torch.randn(3, 3).to_sparse(), ArgumentError, "dense on the CPU"),
    (object(), ArgumentError, "there is no tensor"),
    (np.ma.masked_array(np.ones(3, np.float32), [0, 1, 0]), ArgumentError, r"lose its mask\nhelp: pass `array\.filled"),
    (np.ones(3, np.float32).view(np.recarray), ArgumentError, r"numpy recarray has rules .*\n.*numpy\.asarray"),
]


class Series:
    def __array__(self, dtype=None, copy=None):
        return np.zeros(3, dtype)


AS_TENSOR = r"help: pass a tensor for `x`: `torch\.tensor\(x\)` or `numpy\.array\(x, numpy\.float32\)`$"
WITHOUT_TENSOR = [
    ([1.0, 2.0], {}, r"`x` is a list of numbers\n" + AS_TENSOR),
    (((1, 2), (3, 4)), {}, r"`x` is a tuple of numbers\n" + AS_TENSOR),
    ([np.float32(1)], {}, r"`x` is a list of numbers\n" + AS_TENSOR),
    ([], {}, r"`x` is an empty list\nhelp: pass a torch, numpy or ttnn tensor for `x`$"),
    ({}, {}, r"`x` is an empty dict\n"),
    ({"a": None}, {}, r"`x` is a dict without a tensor in it\n"),
    (3.0, {}, r"`x` is a float\n" + AS_TENSOR),
    (np.float32(3), {}, r"`x` is a numpy\.float32\n" + AS_TENSOR),
    ("text", {}, r"`x` is a str\nhelp: pass a torch, numpy or ttnn tensor for `x`$"),
    (None, {}, r"`x` is None\nhelp: pass a torch, numpy or ttnn tensor for `x`$"),
    (Series(), {}, r"`x` is a \S*Series\nhelp: pass a tensor for `x`: `numpy\.asarray\(x, numpy\.float32\)`$"),
    ("text", {"y": [1.0]}, r"`x` is a str, `y` is a list of numbers\n" + AS_TENSOR.replace("x", "y")),
]


@pytest.mark.parametrize(("x", "others", "text"), WITHOUT_TENSOR)
def test_a_call_without_tensors_names_the_parameter_and_what_to_write(x, others, text):
    def two(x, y):
        return ttnn.add(x, y)

    function = ttnn_jit.jit(two if others else lambda x: ttnn.exp(x))
    for call in (function, function.ir, function.explain):
        with pytest.raises(
            ArgumentError, match="^Invalid arguments for function.*: there is no tensor among them: " + text
        ):
            call(x, **others)
    assert function.num_entries == 0


def test_a_function_without_parameters_is_refused_with_a_hint_to_take_a_tensor():
    with pytest.raises(ArgumentError, match="no tensor among them: it has no parameters\nhelp: give it the tensors"):
        ttnn_jit.jit(lambda: 3)()


NUMBERS_AS_OPERAND = r"must be a tensor.*, got (list|tuple); make one of the numbers before the call: `torch\.tensor"


@pytest.mark.parametrize("numbers", [[1.0, 2.0], (1, 2), [[1.0], [2.0]]])
def test_numbers_in_a_list_beside_a_tensor_are_refused_with_the_conversion_to_a_tensor(numbers, cpu_device):
    x = torch.ones(2)
    for graph_capture in (False, True):
        add = ttnn_jit.jit(graph_capture=graph_capture)(lambda x, y: ttnn.add(x, y))
        with pytest.raises(CompileError, match=NUMBERS_AS_OPERAND):
            add(x, numbers)
    with pytest.raises(ArgumentError, match=NUMBERS_AS_OPERAND):
        ttnn.add(ttnn.from_torch(x, device=cpu_device), numbers)
    with pytest.raises(ArgumentError, match=NUMBERS_AS_OPERAND):
        ttnn.exp(numbers)


def test_a_list_of_tensors_as_an_operand_gets_no_such_hint():
    with pytest.raises(CompileError, match=r"got list\n(.*\n)*help: the call is written"):
        ttnn_jit.jit(lambda x: ttnn.add(x, [x, x]))(torch.ones(2))


@pytest.mark.parametrize(("argument", "error", "text"), REFUSED)
def test_unsupported_arguments_are_refused_with_an_alternative(argument, error, text):
    with pytest.raises(error, match=text):
        double(argument)
    assert double.num_entries == len(double._variants)


@pytest.mark.parametrize("call", ["first", "warm"])
def test_a_negative_bit_is_refused_with_an_alternative(call):
    jitted = ttnn_jit.jit()(lambda v: v + v)
    negative = (torch.ones(3, dtype=torch.complex64) * 1j).conj().imag
    if call == "warm":
        for _ in range(3):
            jitted(torch.ones(6)[::2])  # the same shape, strides and dtype
    with pytest.raises(ArgumentError, match=r"negative bit(.|\n)*resolve_neg"):
        jitted(negative)


def test_equal_results_that_the_user_computed_separately_are_two_tensors():
    first, second = ttnn_jit.jit()(lambda v: (v + 1.0, v + 1.0))(torch.zeros(2))
    first[0] = 99.0
    assert second[0] == 1.0


def test_a_jitted_function_is_copied_and_pickled_as_itself():
    assert copy.copy(double) is double
    assert copy.deepcopy([double])[0] is double
    assert double.__reduce__() == "double"


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_copy_of_a_config_holds_the_operations_themselves(graph_capture):
    config = copy.deepcopy(types.SimpleNamespace(act=copy.copy(ttnn.neg), own=squared))
    assert (config.act, config.own) == (ttnn.neg, squared)
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: config.own(config.act(x)))
    assert jitted(torch.full((2,), 3.0)).tolist() == [9.0, 9.0]


GLOBAL_SCALE = np.float32(0.1)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("scale", [np.float64(0.1), np.float32(0.1), np.float16(0.1), np.int64(3), np.bool_(True)])
def test_numpy_scalars_are_numbers(graph_capture, scale):
    x = torch.randn(5)
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(lambda v, s: ttnn.multiply(v * s, s * v) * GLOBAL_SCALE)
    expected = (x * float(scale)) * (float(scale) * x) * float(GLOBAL_SCALE)
    for _ in range(3):
        assert torch.equal(jitted(x, scale), expected)
    assert jitted.num_entries == 1


def test_numpy_scalars_of_other_bits_or_types_are_other_constants():
    jitted = ttnn_jit.jit()(lambda v, s: v / s)
    one = torch.ones(1)
    assert [jitted(one, np.float64(zero)).item() for zero in (0.0, -0.0, 0.0)] == [np.inf, -np.inf, np.inf]
    jitted(one, np.float32(0.0))
    jitted(one, np.float64("nan"))
    jitted(one, np.float64("nan"))
    assert jitted.num_entries == 4


def test_a_second_process_would_find_what_a_numpy_scalar_made():
    jitted = ttnn_jit.jit()(lambda v, s: v * s * np.sqrt(2.0) * GLOBAL_SCALE)
    jitted(torch.ones(3), np.float32(2.0))
    assert ttnn_jit.explain_miss(jitted, torch.ones(3), np.float32(2.0)) == "nothing differs: this call is a hit"
    assert "nothing differs" not in ttnn_jit.explain_miss(jitted, torch.ones(3), np.float32(3.0))


@pytest.mark.parametrize("shape", [(64, 64), (32,), (1, 32)])
def test_torch_tensors_obey_the_target_that_the_decorator_names(device, shape):
    x = torch.randn(shape).bfloat16()
    x.view(-1)[:2] = torch.tensor([float("nan"), 1e-39])
    on_chip = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    jitted = ttnn_jit.jit(target="wormhole_b0")(programs.cosh)
    assert torch.equal(jitted(x), jitted(on_chip).to_torch())
    assert not torch.equal(jitted(x), ttnn_jit.jit()(programs.cosh)(x))
    with pytest.raises(ShapeError, match="whole 32x32 tiles"):
        jitted(torch.randn(33, 32))


def test_requires_grad_is_accepted_without_grad_mode():
    x = torch.randn(3, requires_grad=True)
    with torch.no_grad():
        assert torch.equal(double(x), x + x)


def test_an_error_about_wrong_arguments_shows_the_signature():
    with pytest.raises(ValueError, match=r"^Invalid arguments for function double: missing.*\nhelp: .*double\(x\)"):
        double()


def test_libraries_and_targets_do_not_mix(device, cpu_device):
    on_chip = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    on_cpu = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=cpu_device)
    on_host = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT)
    with pytest.raises(ArgumentError, match="torch tensors and ttnn tensors"):
        pair(on_chip, torch.randn(32, 32))
    with pytest.raises(ArgumentError, match="different devices"):
        pair(on_chip, on_cpu)
    with pytest.raises(ArgumentError, match="on the host"):
        pair(on_chip, on_host)
    pair(on_chip, on_chip)
    with pytest.raises(ArgumentError, match=r"different (devices|targets)"):
        pair(on_chip, on_cpu)


RULES = [
    (
        {"layout": ttnn.ROW_MAJOR_LAYOUT},
        (32, 32),
        LayoutError,
        "Only Layout.Tile tensors are supported. Found layout: Layout.ROW_MAJOR",
    ),
    ({"memory_config": ttnn.L1_MEMORY_CONFIG}, (32, 32), LayoutError, "Interleaved L1 tensors are not supported."),
    ({}, (33, 32), ShapeError, "whole 32x32 tiles"),
]


@pytest.mark.parametrize(("keywords", "shape", "error", "text"), RULES)
def test_a_chip_target_refuses_what_the_document_refuses(device, keywords, shape, error, text):
    x = ttnn.from_torch(torch.randn(shape), **({"layout": ttnn.TILE_LAYOUT, "device": device} | keywords))
    entries = double.num_entries
    with pytest.raises(error, match=text):
        double(x)
    assert double.num_entries == entries


def test_eager_operations_on_a_chip_pad_as_ttnn_does(device):
    x = torch.randn(33, 65)
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal((tensor + tensor).to_torch(), x + x)


def test_a_row_or_column_of_one_broadcasts_on_a_chip(device):
    x, row, column = torch.randn(64, 64), torch.randn(1, 64), torch.randn(64, 1)
    tensors = [ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device) for t in (x, row, column)]
    result = ttnn_jit.jit()(lambda a, b, c: (a + b) * c)(*tensors)
    assert torch.equal(result.to_torch(), (x + row) * column)


def test_a_deallocated_tensor_is_named(device):
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    double(x)
    ttnn.deallocate(x)
    with pytest.raises(DeallocatedError, match=r"deallocated.*shape=Shape\(\[32, 32\]\)"):
        double(x)
    with pytest.raises(DeallocatedError, match=r"ttnn\.exp|exp"):
        ttnn.exp(x)


def test_python_operators_are_the_operations(device):
    a, b = torch.rand(32, 32) + 0.5, torch.rand(32, 32) + 0.5
    x, y = (ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device) for t in (a, b))
    for result, expected in [
        (x + y, a + b), (x - 2.0, a - 2.0), (3.0 - x, 3.0 - a), (x * y, a * b), (x / y, a / b), (1.0 / x, 1.0 / a),
        (-x, -a), (x < y, (a < b).float()), (x == x, torch.ones(32, 32)),
    ]:  # fmt: skip
        assert torch.equal(result.to_torch(), expected)
    assert len({x, y}) == 2


class Position(enum.IntEnum):
    SECOND = 1

    def __index__(self):
        return 0


class Pointer:
    def __index__(self):
        return 1


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("index", [Position.SECOND, Pointer()], ids=["an int's", "an object's"])
@pytest.mark.parametrize("read", [lambda k: [2.0, 3.0][k], lambda k: sum([2.0, 3.0, 5.0][:k]), operator.index])
def test_an_index_is_any_object_that_python_accepts_as_one(graph_capture, index, read):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * (read(index) + 7))
    assert jitted(torch.ones(1)).item() == read(index) + 7


class Named(str, enum.Enum):  # noqa: UP042 - a class that a string may be given
    pass


def test_a_str_whose_class_was_set_to_an_enum_is_keyed_by_its_text():
    class Text(str):
        pass

    word = Text("relu")
    function = ttnn_jit.jit()(lambda x, a: x * (3.0 if a == "relu" else 5.0))
    x = torch.ones(2, 2)
    assert function(x, a=word)[0, 0] == 3.0
    word.__class__ = Named
    assert function(x, a=word)[0, 0] == 3.0


@pytest.mark.parametrize("graph_capture", [False, True])
def test_the_class_attribute_of_an_argument_is_never_read(graph_capture):
    @dataclasses.dataclass(frozen=True)
    class Settings:
        scale: float = 2.0

        @property
        def __class__(self):
            raise TypeError("nobody asks")

    function = ttnn_jit.jit(graph_capture=graph_capture)(lambda x, settings: x * 3.0)  # noqa: ARG005 - what is asked of it
    assert function(torch.ones(2, 2), Settings())[0, 0] == 3.0


def test_a_repr_that_returns_no_str_raises_the_error_of_python():
    class Scale:
        def __repr__(self):
            return 4

    scale = Scale()
    function = ttnn_jit.jit()(lambda x: x * len(f"{scale!r}"))
    with pytest.raises(TypeError, match="__repr__ returned non-string"):
        function.func(torch.ones(2, 2))
    with pytest.raises((TypeError, ttnn_jit.diagnostics.errors.CompileError), match="__repr__ returned non-string"):
        function(torch.ones(2, 2))
