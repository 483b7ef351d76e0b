"""The number of programs that a function keeps in memory: the least recently used are evicted, with a warning."""

from __future__ import annotations

import gc
import itertools
import threading
import warnings
import weakref

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.compiler import stored_programs
from ttnn_jit.diagnostics import changing_arguments
from ttnn_jit.dispatch import lru_programs
from ttnn_jit.dispatch.lru_programs import MAX_PROGRAMS

LIMIT = 8
MANY = 40
X = torch.ones(2, 2)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A limit that is reached quickly."""
    monkeypatch.setattr(lru_programs, "MAX_PROGRAMS", LIMIT)


def on(device, values=X):
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


def compiles():
    return ttnn_jit.cache_info().compiles


def scaled(dynamic=None):
    @ttnn_jit.jit(enable_cache=False, dynamic=dynamic)
    def scaled(x, factor):
        return x * factor

    return scaled


def call_quietly(function, *args):
    """Calls twice, so that the second call uses the fast path, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(*args)
        return function(*args)


@pytest.mark.parametrize("kind", ["torch", "ttnn"])
def test_a_new_number_at_each_call_keeps_a_limited_number_of_programs_and_no_more_memory(kind, cpu_device):
    function, x = scaled(), X if kind == "torch" else on(cpu_device)
    programs = []
    for number in range(4 * LIMIT):
        call_quietly(function, x, float(number))
        programs += [weakref.ref(each) for each in function._variants.programs()][-1:]
        assert function.num_entries == min(number + 1, LIMIT)
    gc.collect()
    assert sum(each() is not None for each in programs) <= LIMIT + 4  # and the calls of the inline cache


def test_an_eager_operation_keeps_a_limited_number_of_programs_and_calls(cpu_device):
    x = on(cpu_device)
    ttnn.multiply.clear()
    for number in range(4 * LIMIT):
        found = call_quietly(ttnn.multiply, x, float(number))
        assert torch.equal(ttnn.to_torch(found), X * number)
        assert ttnn.multiply.num_entries <= LIMIT
        assert len(ttnn.multiply._warm) <= 2 * LIMIT
    ttnn.multiply.clear()


def test_offsets_of_views_that_change_are_limited_too(cpu_device):
    x = ttnn.from_torch(torch.arange(64 * 32).reshape(1, 1, 64, 32).float(), device=cpu_device)
    ttnn.reshape.clear()
    for rows in range(1, 3 * LIMIT):
        if 2048 % rows == 0:
            for _ in range(2):
                assert tuple(ttnn.reshape(x, (rows, 2048 // rows)).shape) == (rows, 2048 // rows)
    assert len(ttnn.reshape._views) <= LIMIT


@pytest.mark.parametrize("eager", [False, True])
def test_the_least_recently_used_program_is_evicted_although_warm_calls_record_nothing(eager, cpu_device):
    function, x = (ttnn.multiply, on(cpu_device)) if eager else (scaled(), X)
    function.clear()
    for number in (0.25, 0.5):
        call_quietly(function, x, number)
    for number in range(5 * LIMIT):
        call_quietly(function, x, float(number))
        before = compiles()
        for kept in (0.25, 0.5):
            call_quietly(function, x, kept)
        assert compiles() == before
    function.clear()


def test_the_first_eviction_warns_once_and_names_the_argument_that_keeps_changing():
    @ttnn_jit.jit(enable_cache=False, dynamic=False)
    def halves(x, y):
        return x[:1] + y

    told = []
    for rows in range(1, 3 * LIMIT):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            halves(torch.ones(rows, 3), X.new_ones(1, 3))
        told += caught
    (warning,) = told
    text = f"halves keeps {LIMIT} programs, and from now on evicts the least recently used; `x` keeps changing"
    assert str(warning.message) == f"{text}: it had {LIMIT + 1} values"
    assert warning.filename == __file__


def test_a_changing_number_warns_after_sixteen_changes_and_at_evictions(monkeypatch):
    monkeypatch.setattr(lru_programs, "MAX_PROGRAMS", MANY)
    monkeypatch.setattr(changing_arguments, "MAX_COUNTED_VALUES", MANY)
    function = scaled(dynamic=False)
    told = []
    for number in range(MANY + 20):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(X, number * 0.5)
        told += [str(each.message) for each in caught]
    assert [text.partition(" values")[0].partition(";")[0] for text in told] == [
        "scaled was compiled for 16",
        f"scaled keeps {MANY} programs, and from now on evicts the least recently used",
    ]
    assert f"`factor` keeps changing: it had {MANY} and more values" in told[1]
    assert function.num_entries == MANY


@pytest.mark.filterwarnings("error")
def test_a_changing_number_that_a_template_leaves_open_is_evicted_without_a_warning():
    function, before = scaled(), compiles()
    for number in range(4 * LIMIT):
        assert torch.equal(function(X, number + 0.5), X * (number + 0.5))
    assert function.num_entries == LIMIT
    assert compiles() - before == 2


def test_tensors_in_the_place_of_a_number_are_not_counted_as_changing_numbers(cpu_device, monkeypatch):
    monkeypatch.setattr(lru_programs, "MAX_PROGRAMS", MAX_PROGRAMS)
    ttnn.multiply.clear()
    for extent in range(1, 25):
        x = on(cpu_device, torch.ones(2, extent))
        ttnn.multiply(x, x)
        ttnn.multiply(x, 2.0 + extent % 3)
    ttnn.multiply.clear()


def test_devices_of_each_target_have_a_limit_of_their_own(cpu_device):
    chip = ttnn.open_device(device_id=1)
    ttnn.multiply.clear()
    for number in range(2 * LIMIT):
        for device in (cpu_device, chip):
            call_quietly(ttnn.multiply, on(device), float(number))
    assert ttnn.multiply.num_entries == 2 * LIMIT
    ttnn.multiply.clear()
    ttnn.close_device(chip)


def test_a_trace_replays_evicted_programs(device, monkeypatch):
    monkeypatch.setattr(stored_programs, "IN_MEMORY", weakref.WeakValueDictionary())
    function, x = scaled(), on(device, torch.full((32, 32), 3.0))
    call_quietly(function, x, 2.0)
    call_quietly(ttnn.add, x, 1.0)
    trace = ttnn.begin_trace_capture(device)
    doubled, more = function(x, 2.0), ttnn.add(x, 1.0)
    ttnn.end_trace_capture(device, trace)
    for number in range(3 * LIMIT):
        call_quietly(function, x, 5.0 + number)
        call_quietly(ttnn.add, x, 5.0 + number)
    gc.collect()
    ttnn.execute_trace(device, trace)
    assert torch.equal(ttnn.to_torch(doubled).float(), torch.full((32, 32), 6.0))
    assert torch.equal(ttnn.to_torch(more).float(), torch.full((32, 32), 4.0))
    ttnn.release_trace(device, trace)


def test_programs_that_are_evicted_while_another_thread_runs_them_return_their_results():
    function, x, done = scaled(), torch.ones(512, 512), threading.Event()
    wrong = []

    def run():
        for number in itertools.cycle((2.0, 3.0)):
            if not torch.equal(function(x, number), x * number):
                wrong.append(number)
            if done.is_set():
                return

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(6 * LIMIT):
        call_quietly(function, x, 5.0 + number)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert function.num_entries <= LIMIT


class Config:
    def __init__(self, factor):
        self.factor = factor


@pytest.mark.parametrize("method", [False, True])
def test_objects_that_are_built_anew_for_each_call_are_warned_of_once(method):
    class Layer(Config):
        @ttnn_jit.jit(enable_cache=False)
        def forward(self, x):
            return x * self.factor

    @ttnn_jit.jit(enable_cache=False)
    def scale(config, x):
        return x * config.factor

    told = []
    for _ in range(40):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = Layer(3.0).forward(X) if method else scale(Config(3.0), X)
            assert torch.equal(result, X * 3)
        told += [str(each.message) for each in caught]
    (text,) = told
    kind, name, parameter = ("Layer", "forward", "self") if method else ("Config", "scale", "config")
    assert text.startswith(f"{name} was compiled for 16 objects of ")
    assert f"{kind} that were each built for one call, as `{parameter}`; build one, keep it" in text


def test_objects_that_are_used_again_or_kept_are_not_warned_of():
    @ttnn_jit.jit(enable_cache=False)
    def scale(config, x):
        return x * config.factor

    kept = [Config(float(number)) for number in range(30)]
    for config in kept:
        scale(config, X)
    for _ in range(30):
        config = Config(3.0)
        for _ in range(2):
            scale(config, X)
