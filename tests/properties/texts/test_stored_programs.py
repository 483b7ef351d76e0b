"""Programs as bytes and on disk round trip completely, or read as absent."""

import shutil
import sqlite3
import tempfile
import warnings
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.kernels import BINARY, UNARY, object_code, object_file
from ttnn_jit.cache.disk import DiskStore
from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.runtime.native.image import image_of
from ttnn_jit.runtime.native.native import HostCpu
from ttnn_jit.runtime.plans.launch_bounds import signature_of
from ttnn_jit.runtime.programs.program import Launch, Program, ProgramPlan
from ttnn_jit.specs.tensor_spec import BufferType, DataType, Layout, TensorSpec

SPECS = st.builds(
    lambda shape, dtype, layout, where: TensorSpec(
        shape, dtype, Layout.TILE if dtype.is_block_float else layout, buffer_type=where
    ),
    st.lists(st.integers(0, 70), max_size=4),
    st.sampled_from(DataType),
    st.sampled_from(Layout),
    st.sampled_from(BufferType),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def launches_of(draw, kernel, written, buffers):
    """A launch that writes one buffer from some of those before it: equal ones whole, one element of others."""
    elements = buffers[written].items
    strides = {index: int(buffers[index].items == elements) for index in range(written)}
    readable = [index for index, stride in strides.items() if stride or buffers[index].volume]
    read = draw(st.lists(st.sampled_from(readable), max_size=3)) if readable else []
    return Launch(kernel, (*read, written), (elements, *(strides[index] for index in read), 1))


@st.composite
def programs(draw):
    """A program of any structure; its object code is never run."""
    inputs, temps = draw(st.lists(SPECS, max_size=3)), draw(st.lists(SPECS, max_size=2))
    outputs = draw(st.lists(SPECS, min_size=1, max_size=2))
    buffers = [*inputs, *outputs, *temps]
    kernels = draw(st.permutations([*UNARY, *BINARY]))
    written = range(len(inputs), len(buffers))
    launches = [draw(launches_of(kernel, index, buffers)) for kernel, index in zip(kernels, written, strict=False)]
    plan = ProgramPlan("any name", tuple(inputs), tuple(outputs), tuple(temps), tuple(launches))
    made_for = {launch.kernel: signature_of(launch, buffers).to_json() for launch in launches}
    objects = {kernel: image_of(object_file(kernel), made_for[kernel]) for kernel in plan.kernels}
    notes = draw(st.dictionaries(st.text(max_size=3), JSON, max_size=3))
    texts = draw(st.dictionaries(st.sampled_from(["frontend", "codegen"]), st.text(max_size=20)))
    return Program(plan, objects, notes=notes, texts=texts, built_for=HostCpu("triple", "cpu", "+a,-b"))


@settings(max_examples=100, deadline=None)
@given(programs())
def test_a_program_round_trips_through_its_bytes(program):
    again = Program.from_bytes(program.to_bytes())
    assert again.plan == program.plan
    assert all(mine is theirs for mine, theirs in zip(again.plan.buffers, program.plan.buffers, strict=True))
    assert again.objects == program.objects
    assert again.notes == program.notes
    assert again.texts == program.texts
    assert again.built_for == program.built_for
    assert again.hash == program.hash


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_bytes_damaged_anywhere_are_refused(data):
    plan = ProgramPlan("p", (), (TensorSpec((3,), DataType.FLOAT32),), (), (Launch("t_neg", (0,), (3, 1)),))
    whole = Program(plan, {"t_neg": object_code("t_neg")}, built_for=HostCpu("triple", "cpu", "")).to_bytes()
    offset = data.draw(st.integers(0, len(whole) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    if kind == "flip":
        flipped = whole[offset] ^ data.draw(st.integers(1, 255))
        damaged = whole[:offset] + bytes([flipped]) + whole[offset + 1 :]
    elif kind == "cut":
        damaged = whole[:offset]
    else:
        damaged = whole[:offset] + data.draw(st.binary(min_size=1, max_size=8)) + whole[offset:]
    with pytest.raises(ProgramFormatError):
        Program.from_bytes(damaged)


VALUES = {f"program:{number}": bytes([number]) * (100 + 3000 * number) for number in range(5)}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """The database file of a store with `VALUES`, all of it in one file."""
    folder = tmp_path_factory.mktemp("pristine") / "store"
    with closing(DiskStore(folder)) as store:
        for name, value in VALUES.items():
            store.set(name, value)
    with closing(sqlite3.connect(folder / "cache.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder / "cache.db"


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(st.floats(0, 1, exclude_max=True), st.integers(0, 255), st.sampled_from([1, 16, 512]), st.booleans())
def test_a_damaged_database_returns_the_right_bytes_or_none(pristine, where, byte, length, cut):
    content = bytearray(pristine.read_bytes())
    offset = int(where * len(content))
    if cut:
        del content[offset:]
    else:
        content[offset : offset + length] = bytes([byte]) * length
    folder = Path(tempfile.mkdtemp())  # mode 0700
    try:
        (folder / "cache.db").write_bytes(content)
        with warnings.catch_warnings(), closing(DiskStore(folder)) as store:
            warnings.simplefilter("ignore", RuntimeWarning)
            for name, value in VALUES.items():
                assert store.get(name) in {None, value}
                store.set(name, value)
            store.names("program:")
            store.usage()
            store.clear()
    finally:
        shutil.rmtree(folder)
