"""numba's output for a source is stored, and another process does not run numba."""

from __future__ import annotations

import pytest

from ttnn_jit.codegen.writing import numba_module as module
from ttnn_jit.codegen.writing.numba_module import PythonSource, numba_module, texts_kept_by

SOURCE = "def kernel(pointers, params):\n    pointers[0] = params[0] + {number}\n"


@pytest.fixture
def kept(monkeypatch):
    """The stored texts; the stand-in for numba returns ``define void @name(`` and counts its calls."""
    kept, compiled = {}, []

    def text(name, source):
        compiled.append(source)
        return f"; {len(compiled)}\ndefine void @{name}("

    def keep(key, make, is_sound):
        if key not in kept or not is_sound(kept[key]):
            kept[key] = make()
        return kept[key]

    monkeypatch.setattr(module, "_text", text)
    with texts_kept_by(keep):
        yield kept
    numba_module.cache_clear()


def in_another_process(name, source, is_local=False):
    numba_module.cache_clear()
    return numba_module(name, PythonSource(source, is_local)).text


def test_a_source_is_compiled_once_and_others_by_themselves(kept):
    first = in_another_process("f", "a")
    assert in_another_process("f", "a") == first
    assert len({first, in_another_process("f", "b"), in_another_process("g", "a")}) == 3
    assert len(kept) == 3


def test_a_module_of_another_name_is_compiled_anew(kept):
    first = in_another_process("f", "a")
    kept.update(dict.fromkeys(kept, b"define void @g("))
    assert in_another_process("f", "a") not in {first, "define void @g("}


def test_a_function_that_is_known_to_one_process_alone_is_not_stored(kept):
    in_another_process("f", "twice()", is_local=True)
    assert not kept


def test_nothing_is_stored_after_the_block():
    kept = []
    with texts_kept_by(lambda *_: kept.append(1) or b""):
        pass
    assert "define void @beyond(" in numba_module("beyond", PythonSource(SOURCE.format(number=1))).text
    assert not kept


HEAD = """# {comment}
from ttnn_jit.kernels.numba.scalar_math import called

@called
def {name}(number):
    return number + 1

"""


def test_functions_that_two_kernels_call_are_compiled_once():
    from numba.core.event import install_recorder

    with install_recorder("numba:compile") as recorded:
        for number, comment in enumerate(("of 3 elements", "of 4 elements")):
            call = f"def kernel(pointers, params):\n    pointers[{number}] = following(params[0])\n"
            text = HEAD.format(comment=comment, name="following") + call
            assert "define void @twice(" in numba_module("twice", PythonSource(text)).text
    started = [event.data["dispatcher"].__name__ for _, event in recorded.buffer if event.is_start]
    assert started == ["following"]
