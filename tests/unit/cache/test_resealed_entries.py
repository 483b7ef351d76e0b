"""Manipulated entries with a valid checksum read as absent, and are made anew."""

from __future__ import annotations

import json
import random
import textwrap
from contextlib import closing

import pytest

from tests.damage import damaged_json
from tests.processes import run_python
from tests.unit.runtime.kernels import object_code
from ttnn_jit.cache.disk import CODE, MANIFEST, PROGRAM, DiskStore, store_of
from ttnn_jit.cache.key import Key
from ttnn_jit.cache.manifest import Manifest
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.image import Image
from ttnn_jit.runtime.native.launch_symbols import CALL_SYMBOL
from ttnn_jit.specs.options import Environment


@pytest.fixture
def store(tmp_path):
    with closing(DiskStore(tmp_path / "store")) as opened:
        yield opened


def launch_code_in(store):
    """The entry with native code that belongs to no program, stored by the first loader of the store."""
    native._Loader().load_launch_code(Manifest(store).native_code)
    (name,) = store.names(CODE)
    return name, store.get(name)


def with_table(image, change):
    """An image with a changed table of functions."""
    code = bytes(Image.read(image).code)
    table = json.loads(image[len(code) : -8])
    return code + json.dumps(change(table)).encode() + image[-8:]


DAMAGES = {
    "nothing": lambda _: b"",
    "text": lambda _: b"no image at all",
    "an image that is cut": lambda image: image[:-1],
    "another function's image": lambda _: object_code("t_neg"),
    "an image without functions": lambda image: with_table(image, lambda table: [{}, *table[1:]]),
    "an image of more functions": lambda image: with_table(image, lambda t: [t[0] | {"t_neg": 0}, *t[1:]]),
    "a call of what is not there": lambda image: with_table(image, lambda t: [t[0], t[1] | {"no_such": 0}, *t[2:]]),
    "a signature": lambda image: with_table(image, lambda table: [*table[:3], [1, [], 0]]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_resealed_native_code_reads_as_absent_and_is_assembled_anew(damage, store):
    name, sound = launch_code_in(store)
    store.set(name, DAMAGES[damage](sound))
    loader = native._Loader()
    loader.load_launch_code(Manifest(store).native_code)
    assert loader.launch_address(CALL_SYMBOL)
    assert store.get(name) == sound


def test_no_damage_to_the_table_of_native_code_is_an_error(store):
    name, sound = launch_code_in(store)
    draw = random.Random(0)
    for _ in range(150):
        store.set(name, with_table(sound, lambda table: damaged_json(draw, table)))
        loader = native._Loader()
        loader.load_launch_code(Manifest(store).native_code)
        assert set(loader._addresses) == set(native.LAUNCH_FUNCTIONS)


KEY = Key.for_this_host(MANIFEST, {"code": "abc"}, function="cosh")
CONTENT = Key.for_this_host(PROGRAM, {"module": "abc"}, function="cosh")
READS = [("SCALE", "float:2"), ("helper", "code:1")]


def kept(store):
    """A manifest with a record, and the bytes of its entry."""
    programs = Manifest(store)
    programs.store(KEY, READS, CONTENT, b"program")
    return programs, store.get(KEY.entry)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[" * 100_000, b"null", b"[]", b"{}", b"3", b'["ab"]', b'[[[["x"]], "y"]]']
)
def test_a_manifest_of_another_kind_holds_no_programs(data, store):
    programs, _ = kept(store)
    store.set(KEY.entry, data)
    assert programs.lookup(KEY, dict(READS).get) is None
    assert (programs.reads_of(KEY), programs.nearest(KEY)) == ([], None)
    programs.store(KEY, READS, CONTENT, None)
    assert programs.lookup(KEY, dict(READS).get).program == b"program"


def test_no_damage_to_the_content_of_a_manifest_is_an_error(store):
    programs, sound = kept(store)
    draw = random.Random(0)
    for _ in range(300):
        lines = (json.dumps(damaged_json(draw, json.loads(line))).encode() for line in sound.split(b"\n"))
        store.set(KEY.entry, b"\n".join(lines))
        found = programs.lookup(KEY, dict(READS).get)
        assert found is None or found.program == b"program"
        assert all(type(text) is str for reads in programs.reads_of(KEY) for read in reads for text in read)
        programs.nearest(KEY)
        programs.store(KEY, READS, CONTENT, None)
        assert programs.lookup(KEY, dict(READS).get).reads == ("SCALE", "helper")


SCRIPT = """
    import numpy
    import ttnn_jit

    @ttnn_jit.jit()
    def double(x):
        return x * 2.0

    assert (double(numpy.ones(3, numpy.float32)) == 2.0).all()
    print(ttnn_jit.cache_info().compiles)
"""


@pytest.mark.process
@pytest.mark.parametrize("damage", ["text", "an image without functions"])
def test_a_call_in_a_new_process_continues_with_resealed_native_code(damage, tmp_path):
    script = tmp_path / "model.py"
    script.write_text(textwrap.dedent(SCRIPT))

    def compiles():
        return int(run_python("-W", "error", script, check=True).stdout)

    assert compiles() == 1
    with closing(store_of(Environment.read())) as store:
        (name,) = store.names(CODE)
        store.set(name, DAMAGES[damage](store.get(name)))
    assert compiles() == 0
