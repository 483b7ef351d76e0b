"""Keys by contribution, and programs that are found by the reads of their compiles."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from ttnn_jit.cache import manifest
from ttnn_jit.cache.disk import CODE, MANIFEST, PROGRAM, DiskStore
from ttnn_jit.cache.key import Key, Versions, compiler_identity, differences, typed_text
from ttnn_jit.cache.manifest import Manifest
from ttnn_jit.guards.fingerprints import NoStableIdentityError
from ttnn_jit.runtime.native.native import HostCpu, host_cpu
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import CoreGrid, DataType, Layout, ShardStrategy, TensorSpec

HOST = HostCpu("x86_64-linux", "znver4", "+avx2,+fma")
SPEC = TensorSpec((32, 32), DataType.BFLOAT16, Layout.TILE)


PARTS = {"code": "abc", "argument x": SPEC, "argument factor": 0.5}


def key(**changes) -> Key:
    base = Key(
        MANIFEST,
        function="cosh",
        parts=tuple(PARTS.items()),
        options=CompileOptions(),
        target=PRESETS["cpu"],
        host=HOST,
        versions=Versions("compiler", "llvm", "python"),
    )
    return replace(base, **changes)


def key_of(**changes) -> Key:
    """The key of a compile with other inputs of code and arguments."""
    return key(parts=tuple((PARTS | {name.replace("_", " "): value for name, value in changes.items()}).items()))


def content(text="content") -> Key:
    return key(kind=PROGRAM, parts=(("module", text),))


@pytest.fixture
def store(tmp_path):
    with closing(DiskStore(tmp_path / "store")) as opened:
        yield opened


def current_values(**now):
    """The current values at the paths of reads."""
    return now.get


def test_a_program_is_found_while_everything_that_its_compile_read_is_unchanged(store):
    programs = Manifest(store)
    programs.store(key(), [("SCALE", "float:2"), ("helper", "code:1")], content(), b"program")
    assert programs.lookup(key(), current_values(SCALE="float:2", helper="code:1")).program == b"program"
    assert programs.lookup(key(), current_values(SCALE="float:3", helper="code:1")) is None
    assert programs.lookup(key(), current_values(SCALE="float:2")) is None
    assert programs.lookup(key_of(code="abd"), current_values(SCALE="float:2", helper="code:1")) is None


def test_values_that_alternate_each_keep_their_program(store):
    programs = Manifest(store)
    for value in ("2", "3"):
        programs.store(key(), [("SCALE", value)], content(value), f"program {value}".encode())
    assert programs.lookup(key(), current_values(SCALE="2")).program == b"program 2"
    assert programs.lookup(key(), current_values(SCALE="3")).program == b"program 3"
    assert programs.reads_of(key()) == [(("SCALE", "3"),), (("SCALE", "2"),)]


def test_candidates_are_bounded_and_equal_reads_replace_each_other(store):
    programs = Manifest(store)
    for value in range(manifest.CANDIDATES_PER_KEY + 5):
        programs.store(key(), [("SCALE", str(value))], content(), None)
    programs.store(key(), [("SCALE", "20")], content(), None)
    assert len(programs.reads_of(key())) == manifest.CANDIDATES_PER_KEY
    assert programs.lookup(key(), current_values(SCALE="0")) is None


def test_each_read_is_looked_up_once(store):
    programs, asked = Manifest(store), []
    for value in ("1", "2", "3"):
        programs.store(key(), [("SCALE", value)], content(), b"program")
    programs.lookup(key(), asked.append)
    assert asked == ["SCALE"]


def test_a_program_known_by_content_is_not_stored_twice(store):
    programs = Manifest(store)
    programs.store(key(), [], content(), b"program")
    programs.store(key(function="sinh"), [], content(), None)
    assert store.names(PROGRAM) == [content().entry]
    assert programs.lookup(key(function="sinh"), current_values()).program == b"program"


def test_an_evicted_program_is_a_miss(store):
    programs = Manifest(store)
    programs.store(key(), [], content(), b"program")
    kept = store.get(key().entry)
    store.clear()
    store.set(key().entry, kept)
    assert programs.lookup(key(), current_values()) is None


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"function": "sinh"}, "function"),
        ({"parts": tuple((PARTS | {"code": "abd"}).items())}, "code"),
        ({"parts": tuple((PARTS | {"argument factor": 0.25}).items())}, "argument factor"),
        ({"options": CompileOptions(fuse=False)}, "option fuse"),
        ({"target": replace(PRESETS["cpu"], dst_tiles=8)}, "target dst_tiles"),
        ({"host": replace(HOST, features="+avx2")}, "cpu features"),
        ({"versions": Versions("compiler", "llvm 2", "python")}, "LLVM"),
    ],
)
def test_every_contribution_changes_the_key_and_is_named(changes, name):
    other = key(**changes)
    assert other.digest != key().digest
    assert [difference.name for difference in differences(key().contributions, other.contributions)] == [name]


def test_the_order_of_arguments_counts():
    assert key(parts=tuple(reversed(PARTS.items()))).digest != key().digest


def test_equal_keys_have_equal_digests():
    assert key().digest == key(parts=tuple(PARTS.items())).digest
    assert differences(key().contributions, key().contributions) == ()


def test_a_difference_prints_as_from_and_to():
    (found,) = differences(key().contributions, key_of(argument_factor=2).contributions)
    assert str(found) == "argument factor: float 0.5 -> int:2"
    (found,) = differences(key().contributions, key(parts=tuple(PARTS.items())[:2]).contributions)
    assert str(found) == "argument factor: float 0.5 -> absent"


def test_scalars_are_keyed_by_type_and_bits():
    values = [1, True, 1.0, 0.0, -0.0, 0, False, None, "1", b"1", float("nan"), float("inf"), (1,), [1], {"a": 1}]
    assert len({typed_text(value) for value in values}) == len(values)
    assert typed_text(float("nan")) == typed_text(float("nan"))
    assert typed_text([1.0, (2,)]) == typed_text([1.0, (2,)])


def test_specs_are_keyed_by_all_of_their_fields():
    config = create_sharded_memory_config((64, 64), CoreGrid(x=2, y=2), ShardStrategy.BLOCK)
    other = create_sharded_memory_config((64, 64), CoreGrid(x=2, y=1), ShardStrategy.BLOCK)
    specs = [
        TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE),
        TensorSpec((64, 64), DataType.BFLOAT16),
        TensorSpec((64, 64), DataType.BFLOAT16, strides=(1, 64)),
        TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE, config),
        TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE, other),
    ]
    assert len({typed_text(spec) for spec in specs}) == len(specs)


def test_a_value_without_a_stable_identity_makes_no_key():
    with pytest.raises(NoStableIdentityError):
        typed_text([object()])


def test_the_nearest_entry_is_of_the_same_function(store):
    programs = Manifest(store)
    assert programs.nearest(key()) is None
    programs.store(key(function="sinh"), [], content(), b"program")
    unfused = replace(key_of(code="x"), options=CompileOptions(fuse=False))
    programs.store(unfused, [], content(), None)
    programs.store(replace(unfused, target=PRESETS["blackhole"]), [], content(), None)
    assert [difference.name for difference in programs.nearest(key())] == ["code", "option fuse"]
    assert programs.nearest(unfused) == ()
    programs.store(key_of(code="y", x=1, z=2), [], content(), None)
    assert programs.nearest(key(location="elsewhere.py", function="tanh")) is None
    assert programs.nearest(key(location="elsewhere.py")) is None  # with the same name and different code
    programs.store(key_of(x=3), [], content(), None)
    assert [difference.name for difference in programs.nearest(key(location="elsewhere.py"))] == ["x"]


def test_keys_of_this_process_name_its_software_and_its_processor():
    made = Key.for_this_host(MANIFEST, PARTS, CompileOptions(), PRESETS["cpu"], function="cosh")
    assert "llvmlite" in made.contributions["LLVM"]
    assert len(made.contributions["compiler"]) == 64
    assert made.contributions["cpu"] == host_cpu().name


@pytest.mark.parametrize("kind", [MANIFEST, PROGRAM, CODE])
def test_keys_of_every_kind_are_one_type_that_can_be_compared(kind):
    first, second = (Key.for_this_host(kind, {"module": text}, function="cosh") for text in ("one", "another"))
    assert first.entry.startswith(kind)
    assert first.entry != second.entry
    assert [difference.name for difference in differences(first.contributions, second.contributions)] == ["module"]
    elsewhere = replace(first, host=replace(first.host, features=""))
    assert differences(first.contributions, elsewhere.contributions) != ()
    assert {"option fuse", "target name"}.isdisjoint(first.contributions)


@pytest.mark.parametrize("failing", [PROGRAM, MANIFEST])
def test_a_manifest_is_stored_with_the_program_that_it_names_or_not_at_all(store, failing, monkeypatch):
    entries = store._open()
    set_entry = entries.set

    def set_or_fail(name, value):
        if name.startswith(failing):
            raise sqlite3.OperationalError("disk I/O error")
        set_entry(name, value)

    monkeypatch.setattr(entries, "set", set_or_fail)
    with pytest.warns(RuntimeWarning, match="disk I/O error"):
        Manifest(store).store(key(), [], content(), b"program")
    monkeypatch.undo()
    assert store.names("") == []
    Manifest(store).store(key(), [], content(), b"program")
    assert store.names("") == [content().entry, key().entry]


def test_code_of_no_program_is_assembled_once_and_again_where_it_is_damaged(store):
    made = []

    def code_of(text):
        return Manifest(store).native_code(text, lambda: made.append(b"code") or made[-1], b"code".__eq__)

    assert [code_of("text") for _ in range(2)] == [b"code", b"code"]
    assert len(made) == 1
    (name,) = store.names(CODE)
    store._open().set(name, store._open().get(name)[:-1])
    assert code_of("text") == b"code"
    assert code_of("another text") == b"code"
    assert len(made) == 3
    store.set(name, b"other code, and whole")
    assert [code_of("text") for _ in range(2)] == [b"code", b"code"]
    assert len(made) == 4
    assert store.usage()[0] == 0


def test_every_edit_of_the_compiler_changes_its_identity(tmp_path, monkeypatch):
    package, linked = tmp_path / "package", tmp_path / "linked"
    for folder in (package / "room", linked):
        folder.mkdir(parents=True)
    (package / "cache").symlink_to(linked)
    monkeypatch.setattr("ttnn_jit.__file__", str(package / "__init__.py"))
    current_values = {compiler_identity.__wrapped__()}
    for number, path in enumerate([package / "__init__.py", package / "room" / "a.py", linked / "b.py"]):
        for text in ("1", "12"):
            path.write_text(text)
            current_values.add(compiler_identity.__wrapped__())
        os.utime(path, (0, 0))
        current_values.add(compiler_identity.__wrapped__())
        assert len(current_values) == 4 + 3 * number
    (package / "room" / "note.txt").write_text("1")
    assert compiler_identity.__wrapped__() in current_values
    package.rename(tmp_path / "elsewhere")
    monkeypatch.setattr("ttnn_jit.__file__", str(tmp_path / "elsewhere" / "__init__.py"))
    assert compiler_identity.__wrapped__() in current_values
