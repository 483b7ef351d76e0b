from __future__ import annotations

import math
import types

from ttnn_jit.guards.reads import (
    ABSENT,
    ATTRIBUTE_STEP,
    BUILTIN_STEP,
    CLOSURE_STEP,
    CONTENTS_STEP,
    GLOBAL_STEP,
    ITEM_STEP,
    Read,
    compile_guard,
    guard_text,
    resolve,
)

SCALE = 0.5
NUMBERS = [1, 2]
TABLE = {"a": [3]}


def helper(x):
    return x * SCALE


def make(k):
    def function(x):
        return helper(x) * k

    return function


FUNCTION = make(3)


def read_of(*path):
    return Read(path, resolve(FUNCTION, path))


def holds(*path):
    return compile_guard(FUNCTION, [read_of(*path)])


def test_an_empty_set_of_reads_holds():
    assert compile_guard(FUNCTION, [])()


def test_a_rebound_global_is_detected(monkeypatch):
    guard = holds((GLOBAL_STEP, "SCALE"))
    assert guard()
    monkeypatch.setitem(globals(), "SCALE", 0.25)
    assert not guard()


def test_a_deleted_global_is_detected(monkeypatch):
    guard = holds((GLOBAL_STEP, "SCALE"))
    monkeypatch.delitem(globals(), "SCALE")
    assert not guard()


def test_a_changed_closure_cell_is_detected():
    function = make(3)
    guard = compile_guard(function, [Read(((CLOSURE_STEP, "k"),), 3)])
    assert guard()
    function.__closure__[0].cell_contents = 4
    assert not guard()
    del function.__closure__[0].cell_contents
    assert not guard()


def test_the_functions_own_code_is_guarded():
    function = make(3)
    guard = compile_guard(function, [])
    function.__code__ = make(3).__code__.replace(co_name="other")
    assert not guard()


def test_a_helpers_replaced_code_is_detected(monkeypatch):
    guard = holds((GLOBAL_STEP, "helper"), (ATTRIBUTE_STEP, "__code__"))
    assert guard()
    monkeypatch.setattr(helper, "__code__", (lambda x: x).__code__)
    assert not guard()


def test_a_global_of_a_helper_is_looked_up_in_the_helpers_module(monkeypatch):
    module = types.ModuleType("other_module")
    exec("N = 1\ndef helper(x):\n    return x * N\n", vars(module))
    monkeypatch.setitem(globals(), "helper", module.helper)
    guard = holds((GLOBAL_STEP, "helper"), (GLOBAL_STEP, "N"))
    assert guard()
    module.N = 2
    assert not guard()


def test_a_monkeypatched_attribute_is_detected(monkeypatch):
    guard = holds((GLOBAL_STEP, "math"), (ATTRIBUTE_STEP, "pi"))
    assert guard()
    monkeypatch.setattr(math, "pi", 3)
    assert not guard()
    monkeypatch.delattr(math, "pi")
    assert not guard()


def test_a_mutated_list_is_detected(monkeypatch):
    guard = holds((GLOBAL_STEP, "NUMBERS"), (CONTENTS_STEP, None))
    assert guard()
    monkeypatch.setitem(globals(), "NUMBERS", [1, 2, 3])
    assert not guard()
    monkeypatch.setitem(globals(), "NUMBERS", [1, 5])
    assert not guard()


def test_a_mutated_dict_and_a_list_inside_it_are_detected():
    outer = compile_guard(FUNCTION, [read_of((GLOBAL_STEP, "TABLE"), (CONTENTS_STEP, None))])
    inner = compile_guard(FUNCTION, [read_of((GLOBAL_STEP, "TABLE"), (ITEM_STEP, "a"), (CONTENTS_STEP, None))])
    assert outer()
    assert inner()
    TABLE["a"].append(4)
    assert outer()
    assert not inner()
    TABLE["a"].pop()
    TABLE["b"] = 1
    assert not outer()
    del TABLE["b"]
    assert outer()


def test_a_builtin_hidden_by_a_global_is_detected(monkeypatch):
    reads = [Read(((GLOBAL_STEP, "len"),), ABSENT), read_of((BUILTIN_STEP, "len"))]
    guard = compile_guard(FUNCTION, reads)
    assert guard()
    monkeypatch.setitem(globals(), "len", lambda _: 0)
    assert not guard()


def test_an_object_whose_methods_raise_makes_the_guard_false(monkeypatch):
    guard = holds((GLOBAL_STEP, "TABLE"), (ITEM_STEP, "a"))
    monkeypatch.setitem(globals(), "TABLE", 3)
    assert not guard()


def test_many_reads_of_one_module_resolve_it_once():
    reads = [read_of((GLOBAL_STEP, "math"), (ATTRIBUTE_STEP, name)) for name in ("pi", "e", "tau")]
    assert compile_guard(FUNCTION, reads)()
    assert " ".join(guard_text(FUNCTION, reads).conditions).count("'math'") == 1


def test_a_guard_that_is_first_checked_late_still_compares_with_the_compiled_code():
    def function():
        return SCALE

    guard = compile_guard(function, [])
    function.__code__ = (lambda: NUMBERS).__code__
    assert not guard()


def test_reads_print_as_python_expressions():
    assert str(read_of((GLOBAL_STEP, "TABLE"), (ITEM_STEP, "a"))) == "TABLE['a']"
    assert str(read_of((GLOBAL_STEP, "helper"), (GLOBAL_STEP, "SCALE"))) == "helper:SCALE"
