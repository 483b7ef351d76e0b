"""Python's own statements inside jitted functions mean what they mean outside, in both frontends with one text.

PYTEST_DONT_REWRITE: jitted functions here have assertions of their own.
"""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import functools
import logging
import math
import warnings
from typing import Any

import numpy
import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError

DEVICE = ttnn.open_device(device_id=0, target="cpu")
LOG = logging.getLogger(__name__)
SCALES = {"a": 2.0}
STEPS = [2.0]
IDIOMS: dict[str, Any] = {}


@dataclasses.dataclass
class Config:
    hidden: int = 64
    activation: str = "gelu"


class Block:
    def __init__(self, scale, *, first=1.0):
        self.scale = scale
        self.calls = first

    def __call__(self, x):
        self.calls += 1
        return ttnn.multiply(x, self.scale * self.calls)


class Wider(Block):
    def __init__(self, scale):
        super().__init__(scale, first=2.0)
        self.state = None


class Abstract(abc.ABC):
    @abc.abstractmethod
    def forward(self, x, factor): ...


class Shifted(Abstract):
    def __init__(self, by):
        self.by = by

    @classmethod
    def made(cls, by):
        return cls(by)

    def forward(self, x, factor=1.0):
        return ttnn.add(ttnn.multiply(x, factor), self.by)

    def __call__(self, x, factor=1.0):
        return self.forward(x, factor) if self.by < 0 else Shifted.made(-self.by)(x, factor)


class Scope:
    def __init__(self, keeps):
        self.keeps = keeps

    def __enter__(self):
        return 3.0

    def __exit__(self, kind, raised, _):
        return self.keeps and kind is ValueError and "small" in str(raised)


CONFIG, SHIFTED, SCOPE, KEEPING = Config(), Shifted(3.0), Scope(keeps=False), Scope(keeps=True)


def idiom(function):
    IDIOMS[function.__name__] = function
    return function


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@idiom
def recursion(x):
    def deeper(y, depth):
        return y if depth == 0 else deeper(ttnn.add(y, float(factorial(depth))), depth - 1)

    return deeper(x, 4)


@idiom
def keys_that_are_missing(x):
    try:
        scale = SCALES["b"]
    except KeyError as error:
        scale = 3.0 if error.args == ("b",) else 0.0
    try:
        step = STEPS[1]
    except (TypeError, IndexError):
        step = 5.0
    else:
        step = 0.0
    return ttnn.add(ttnn.multiply(x, scale), step)


@idiom
def attributes_that_are_missing(x):
    try:
        scale = CONFIG.nothing
    except AttributeError:
        scale = 3.0
    finally:
        shift = 1.0
    return ttnn.add(ttnn.multiply(x, scale), shift)


def checked(n):
    try:
        if n > 2:
            raise ValueError("too large")
        assert n > 1, "too small"
    except AssertionError:
        return 10.0
    except ValueError:
        try:
            raise
        except ValueError as again:
            return float(len(str(again)))
    return 20.0


@idiom
def exceptions_of_its_own(x):
    return ttnn.add(ttnn.add(ttnn.multiply(x, checked(3)), checked(1)), checked(2))


def left_from_within(x):
    for n in range(3):
        try:
            if n == 1:
                continue
            if n == 2:
                return ttnn.add(x, 100.0)
        finally:
            x = ttnn.add(x, float(n + 1))
    return x


@idiom
def blocks_that_are_left_early(x):
    try:
        with contextlib.suppress(KeyError):
            x = ttnn.add(x, 1.0)
            x = ttnn.add(x, SCALES["nothing"])
        raise RuntimeError("from a helper")
    except RuntimeError:
        return left_from_within(x)


@idiom
def contexts_of_the_users(x):
    with SCOPE as factor, KEEPING:
        x = ttnn.multiply(x, factor)
        raise ValueError("small")
    return ttnn.add(x, 1.0)


@idiom
def patterns(x):
    def chosen(subject):  # noqa: PLR0911 - a line for each kind of pattern
        match subject:
            case {"kind": "relu", **rest} if rest:
                return float(rest["n"])
            case Config(hidden=64 | 65 as width, activation=str(name)):
                return float(width + len(name))
            case [first, *others, 7]:
                return float(first + len(others))
            case (2 | 3) as small:
                return float(small)
            case None | True:
                return 11.0
            case float(value):
                return value
            case _:
                return 13.0

    for subject in ({"kind": "relu", "n": 2}, {"kind": "relu"}, CONFIG, [1, 2, 3, 7], (5, 6), 3, None, 1.5, "text"):
        x = ttnn.add(x, chosen(subject))
    return x


@idiom
def names_of_outer_functions(x):
    count = 0

    def step(y):
        nonlocal count
        count += 1
        if (count := count + 1) > 100:
            return y
        return ttnn.multiply(y, float(count))

    return step(step(x))


@idiom
def globals_that_are_read(x):
    global SCALES  # noqa: PLW0602 - as it is written
    return ttnn.multiply(x, SCALES["a"])


@idiom
def objects_made_inside(x):
    block, config = Wider(0.5), Config(hidden=3)
    block.state = block(x)
    config.hidden += 2
    config.activation = "relu"
    y = ttnn.add(block.state, float(config.hidden))
    return block(ttnn.relu(y) if config.activation == "relu" else y)


@idiom
def functions_made_inside(x):
    def twice(function):
        @functools.wraps(function)
        def called(*args):
            return function(function(*args))

        return called

    @twice
    def doubled(y):
        return ttnn.multiply(y, 2.0)

    moved = functools.partial(SHIFTED.forward, factor=2.0)
    return functools.partial(SHIFTED, factor=0.5)(moved(doubled(x)))


@idiom
def containers_made_inside(x):
    found = collections.defaultdict(list)
    found["x"].append(x)
    ordered = collections.OrderedDict(first=found["x"][0], last=1.0)
    ordered.move_to_end("first")
    return ttnn.add(ordered["first"], ordered.pop("last"))


@idiom
def products_of_shapes(x):
    rows = int(numpy.prod(x.shape[:-1]))
    return ttnn.reshape(x, (1, numpy.prod(list(x.shape)) // 64 // rows, rows, math.prod(x.shape[-1:])))


@idiom
def methods_of_tensors(x):
    y = x.reshape(1, 1, -1, 32).reshape((1, 2, 64, 32)).reshape(ttnn.Shape([1, 1, 64, 64]))
    tile = ttnn.Tile((32, 32))
    assert x.get_tile() == tile
    assert ttnn.Shape([3, 5]).with_tile_padding() == tile.tile_shape
    return ttnn.multiply(y, float(x.shape.with_tile_padding()[-1]))


@idiom
def questions_about_attributes(x):
    assert not hasattr(x, "nothing_of_a_tensors")
    return ttnn.multiply(x, getattr(x, "nothing_of_a_tensors", 3.0))


def tensor():
    x = torch.randint(-2, 3, (1, 1, 64, 64), generator=torch.Generator().manual_seed(1)).float()
    return ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=DEVICE)


@pytest.mark.parametrize("name", IDIOMS)
def test_both_frontends_give_what_python_gives(name):
    expected = ttnn.to_torch(IDIOMS[name](tensor()))
    interpreted, traced = (jit(graph_capture=capture)(IDIOMS[name]) for capture in (False, True))
    for function in (interpreted, traced):
        for _ in range(2):
            assert torch.equal(ttnn.to_torch(function(tensor())), expected)
        assert function.num_entries == 1
    assert interpreted.ir(tensor()) == traced.ir(tensor())


@pytest.mark.parametrize("capture", [False, True])
def test_what_was_missing_and_caught_is_seen_when_it_is_there(capture, monkeypatch):
    keys, attributes = (
        jit(graph_capture=capture)(each) for each in (keys_that_are_missing, attributes_that_are_missing)
    )
    x = tensor()

    def is_as_eager(function):
        assert torch.equal(ttnn.to_torch(function(x)), ttnn.to_torch(function.func(x)))

    is_as_eager(keys)
    monkeypatch.setitem(SCALES, "b", 7.0)
    is_as_eager(keys)
    STEPS.append(4.0)
    is_as_eager(keys)
    STEPS.pop()
    is_as_eager(keys)
    is_as_eager(attributes)
    monkeypatch.setattr(CONFIG, "nothing", 9.0, raising=False)
    is_as_eager(attributes)


@pytest.mark.filterwarnings("ignore:.* prints when the function is compiled:UserWarning")
@pytest.mark.parametrize("capture", [False, True])
def test_messages_are_shown_once_with_what_is_known_of_tensors(capture, capsys, logged):
    @jit(graph_capture=capture)
    def talkative(x):
        print("x is", x, f"{x.shape}")  # noqa: T201 - as it is written
        LOG.warning("logged %s", x.dtype)
        logging.getLogger("another").error("%s", x)
        warnings.warn("slow", RuntimeWarning, stacklevel=1)
        return ttnn.relu(x)

    with pytest.warns(RuntimeWarning, match="slow") as warned:
        talkative(tensor())
    talkative(tensor())
    assert warned[0].filename == __file__
    out = capsys.readouterr().out
    assert out == f"x is {shown()} {tensor().shape}\n"
    assert [record.getMessage() for record in logged.buffer] == ["logged DataType.FLOAT32", shown()]
    assert talkative.num_entries == 1


def shown():
    return f"<tensor of {tensor().spec} in a function being compiled>"


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masks_choose_what_is_written_as_torch_does(capture, dtype):
    def masked(x, chosen, rows, value):
        y = x.masked_fill(x > 0.5, -1.0)
        y[chosen] = 3.0
        y[rows] = value
        part = y[1:, :2]
        part[part < 0] = 4.0
        return torch.masked_fill(y, chosen[:, :1], 5.0).masked_fill_(x < -1, 6.0)

    def in_place(x, chosen):
        x[chosen] = 2.0
        x.masked_fill_(chosen[0], 1.0)

    generator = torch.Generator().manual_seed(3)
    x = torch.randn(5, 7, generator=generator).to(dtype)
    chosen = torch.rand(5, 7, generator=generator) > 0.7
    rows, value = torch.tensor([True, False, False, True, False]), torch.tensor(8.0, dtype=dtype)
    function = jit(graph_capture=capture)(masked)
    assert torch.equal(function(x, chosen, rows, value), masked(x.clone(), chosen, rows, value))
    mine, theirs = x.clone(), x.clone()
    jit(graph_capture=capture)(in_place)(mine, chosen)
    in_place(theirs, chosen)
    assert torch.equal(mine, theirs)


def an_array_with_a_mask(x):
    x[x > 0] = 3.0
    return x[0:2] * 2.0


@pytest.mark.parametrize("capture", [False, True])
def test_masks_choose_what_is_written_as_numpy_does(capture):
    x = numpy.random.default_rng(0).standard_normal((4, 5)).astype(numpy.float32)
    expected = an_array_with_a_mask(x.copy())
    numpy.testing.assert_array_equal(jit(graph_capture=capture)(an_array_with_a_mask)(x), expected)


def reads_by_a_mask(x):
    return x[x > 0]


def fills_by_integers(x):
    x[ttnn.typecast(x, ttnn.int32)] = 1.0
    return x


def fills_with_many(x):
    x[x > 0] = x
    return x


def fills_by_another_shape(x):
    x[x[:3] > 0] = 1.0
    return x


def raises_in_the_end(x):
    try:
        return SCALES["c"]
    finally:
        x = ttnn.relu(x)


def catches_what_the_compiler_says(x):
    try:
        return ttnn.matmul(x, x, 1, 2, 3, 4)
    except IndexError:
        return x


def calls_itself_without_end(x):
    return calls_itself_without_end(x)


def counts_outside(x):
    global COUNT  # noqa: PLW0603 - is refused
    COUNT = 1
    return x


def opens_a_file(x):
    with open("file"):  # noqa: PTH123 - is refused
        return x


def writes_outside(x):
    CONFIG.hidden = 3
    return x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (reads_by_a_mask, "the number of elements that a mask selects is not known before the call"),
        (fills_by_integers, "a tensor is no index of a tensor"),
        (fills_with_many, "cannot be written where a mask is true"),
        (fills_by_another_shape, r"a mask of shape \[3, 4\] does not fit a tensor of \[4, 4\]"),
        (raises_in_the_end, "KeyError: 'c'"),
        (catches_what_the_compiler_says, "`matmul`"),
        (calls_itself_without_end, "calls itself"),
        (counts_outside, "`global` cannot be compiled"),
        (opens_a_file, "`with` cannot be compiled"),
        (writes_outside, "assigning to an attribute cannot be compiled"),
    ],
)
def test_what_has_no_meaning_before_the_call_is_refused_where_it_stands(function, message):
    jitted = jit(graph_capture=False)(function)
    with pytest.raises(CompileError, match=message) as error:
        jitted(torch.ones(4, 4))
    assert "^" in str(error.value)
    assert error.value.location.file == __file__
    assert jitted.num_entries == 0


def test_nothing_is_returned_beside_tensors_and_comes_back():
    @jit()
    def attention(x):
        return ttnn.relu(x), None, {"weights": None}

    for _ in range(2):
        result, nothing, weights = attention(torch.ones(4, 4))
        assert (nothing, weights) == (None, {"weights": None})
        assert torch.equal(result, torch.ones(4, 4))

    with pytest.raises(TtnnJitError, match="returns no tensor"):
        jit()(lambda x: (None, {"x": x}.get("y")))(torch.ones(4, 4))
