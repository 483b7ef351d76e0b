"""Tensors in files, and the cache of converted weights."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ttnn.tensors.tensor_files import TensorFileError

DTYPES = [ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8]
BLOCK = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
CONFIGS = [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, BLOCK]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tensors")


def of_random_bits(shape, dtype, layout=ttnn.ROW_MAJOR_LAYOUT, seed=0):
    data = np.random.default_rng(seed).bytes(int(np.prod(shape)) * dtype.itemsize)
    patterns = np.frombuffer(bytearray(data), f"int{8 * dtype.itemsize}")
    bits = torch.from_numpy(patterns).view(dtype.torch).reshape(shape)
    return ttnn.from_torch(bits, dtype, layout=layout)


def same_bits(a, b):
    width = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[a.dtype.itemsize]
    return torch.equal(a.to_torch().view(width), b.to_torch().view(width))


@settings(deadline=None)
@given(
    shape=st.lists(st.integers(0, 40), max_size=3),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from([ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT]),
    seed=st.integers(0, 5),
)
def test_a_tensor_round_trips_bit_for_bit_with_its_metadata(folder, shape, dtype, layout, seed):
    tensor = of_random_bits(shape, dtype, layout, seed)
    ttnn.dump_tensor(folder / "x.tensorbin", tensor)
    loaded = ttnn.load_tensor(str(folder / "x.tensorbin"))
    assert (loaded.spec, loaded.device()) == (tensor.spec, None)
    assert same_bits(loaded, tensor)


@pytest.mark.parametrize("config", CONFIGS)
def test_a_device_tensor_is_loaded_to_its_old_memory_config(device, folder, config):
    x = ttnn.from_torch(torch.randn(64, 64), layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    ttnn.dump_tensor(folder / "device.tensorbin", x)
    loaded = ttnn.load_tensor(folder / "device.tensorbin", device=device)
    assert (loaded.spec, loaded.device()) == (x.spec, device)
    assert same_bits(loaded, x)


def test_a_file_is_one_of_the_safetensors_format(folder):
    x = torch.randn(3, 5).bfloat16()
    ttnn.dump_tensor(folder / "format.tensorbin", ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT))
    data = (folder / "format.tensorbin").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert header["tensor"] == {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, 30]}
    assert all(isinstance(value, str) for value in header["__metadata__"].values())
    assert data[8 + length :] == x.view(torch.int16).numpy().tobytes()


@settings(deadline=None)
@given(fraction=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_file_with_any_bit_flipped_is_refused_or_the_same(folder, fraction, bit):
    tensor = of_random_bits((5, 7), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    path = folder / "flipped.tensorbin"
    ttnn.dump_tensor(path, tensor)
    data = bytearray(path.read_bytes())
    data[int(fraction * len(data))] ^= 1 << bit
    path.write_bytes(data)
    try:
        loaded = ttnn.load_tensor(path)
    except TensorFileError:
        pass
    else:
        assert loaded.spec is tensor.spec
        assert same_bits(loaded, tensor)


@settings(deadline=None)
@given(kept=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_short_is_refused(folder, kept):
    path = folder / "short.tensorbin"
    ttnn.dump_tensor(path, of_random_bits((5, 7), ttnn.float32))
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(RuntimeError, match=r"is no tensor file of ttnn_jit: .*\nhelp: write it again"):
        ttnn.load_tensor(path)


@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_bytes_of_anything_else_are_refused(folder, data):
    path = folder / "junk.tensorbin"
    path.write_bytes(len(data).to_bytes(8, "little") + data)
    with pytest.raises(TensorFileError, match="is no tensor file"):
        ttnn.load_tensor(path)


def test_invalid_files_and_tensors_are_refused(folder):
    with pytest.raises(TensorFileError, match="the file does not exist"):
        ttnn.load_tensor(folder / "nothing.tensorbin")
    with pytest.raises(TensorFileError, match="it is no file"):
        ttnn.load_tensor(folder)
    with pytest.raises(ArgumentError, match="`tensor` of dump_tensor"):
        ttnn.dump_tensor(folder / "y.tensorbin", torch.ones(2))
    assert not (folder / "y.tensorbin").exists()


def test_a_write_that_fails_keeps_the_old_file(folder, monkeypatch):
    path = folder / "kept.tensorbin"
    ttnn.dump_tensor(path, ttnn.ones((4, 4)))
    before = sorted(folder.iterdir())
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "disk full")))
    with pytest.raises(OSError, match="disk full"):
        ttnn.dump_tensor(path, ttnn.zeros((4, 4)))
    assert sorted(folder.iterdir()) == before
    assert ttnn.load_tensor(path).to_torch().sum() == 16


def test_tensors_of_a_mesh_are_loaded_to_an_equal_mesh(folder):
    mesh = ttnn.open_mesh_device((1, 2))
    x = torch.randn(4, 6)
    sharded = ttnn.from_torch(x, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 1))
    ttnn.dump_tensor(folder / "mesh.tensorbin", sharded)
    loaded = ttnn.load_tensor(folder / "mesh.tensorbin", device=mesh)
    assert torch.equal(ttnn.to_torch(loaded, mesh_composer=ttnn.ConcatMeshToTensor(mesh, 1)), x)
    with pytest.raises(TensorFileError, match=r"of a mesh of .*, and `device` is None\nhelp: pass `device="):
        ttnn.load_tensor(folder / "mesh.tensorbin")
    ttnn.close_mesh_device(mesh)


# --- as_tensor ------------------------------------------------------------------------------------------------------


def test_a_weight_is_converted_once_and_read_from_its_file_afterwards(device, tmp_path):
    calls = []

    def transposed(tensor):
        calls.append(tensor)
        return tensor.T

    weight = torch.randn(64, 96)

    def made(tensor=weight):
        return ttnn.as_tensor(
            tensor, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG,
            cache_file_name=tmp_path / "deep" / "wq", preprocess=transposed,
        )  # fmt: skip

    first, second, without = made(), made(), made(None)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["wq_dtype_BFLOAT16_layout_TILE.tensorbin"]
    assert len(calls) == 1
    for tensor in (first, second, without):
        assert (tensor.shape, tensor.layout, tensor.device()) == ([96, 64], ttnn.TILE_LAYOUT, device)
        assert torch.equal(tensor.to_torch(), weight.T.bfloat16())


@pytest.mark.parametrize("config", CONFIGS)
def test_a_cached_tensor_has_the_requested_memory_config(device, tmp_path, config):
    x = torch.randn(64, 64)
    for _ in range(2):
        tensor = ttnn.as_tensor(
            x, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config, cache_file_name=tmp_path / "x"
        )
        assert (tensor.memory_config(), torch.equal(tensor.to_torch(), x)) == (config, True)
    on_host = ttnn.as_tensor(x, layout=ttnn.TILE_LAYOUT, cache_file_name=tmp_path / "x")
    assert on_host.spec is ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT).spec


def kept_as_w(folder, tensor, dtype=None, **keywords):
    return ttnn.as_tensor(tensor, dtype, cache_file_name=folder / "w", **keywords).to_torch()


@pytest.mark.parametrize("kept", [0, 60, 100, -1])
def test_a_damaged_file_is_replaced_with_a_warning(tmp_path, kept):
    path = tmp_path / "w_dtype_None_layout_ROW_MAJOR.tensorbin"
    kept_as_w(tmp_path, torch.zeros(3))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.warns(UserWarning, match=r"w_dtype_None_layout_ROW_MAJOR.tensorbin is rewritten: .* is no tensor file"):
        assert kept_as_w(tmp_path, torch.ones(3)).tolist() == [1, 1, 1]
    assert kept_as_w(tmp_path, None).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("other", "holds"),
    [
        (torch.zeros(4), r"a tensor whose shape is \[3\], but \[4\] is requested"),
        (torch.ones(3), r"made of torch.float32\[3\] of checksum \w{8}, but one of torch.float32\[3\] of checksum"),
        (torch.zeros(3, dtype=torch.bfloat16), r"made of torch.float32\[3\] .* but one of torch.bfloat16\[3\]"),
    ],
)
def test_a_file_of_other_weights_is_refused_by_name_and_kept(tmp_path, other, holds):
    path = tmp_path / "w_dtype_None_layout_ROW_MAJOR.tensorbin"
    kept_as_w(tmp_path, torch.zeros(3))
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match=rf"{path} holds .*{holds}.*\nhelp: the file stays as it is: pass another"):
        kept_as_w(tmp_path, other)
    assert path.read_bytes() == before
    assert kept_as_w(tmp_path, torch.zeros(3)).tolist() == [0, 0, 0]


def test_a_meta_tensor_or_none_accepts_any_file(tmp_path):
    kept_as_w(tmp_path, torch.ones(3))
    for tensor in (None, torch.empty(3, device="meta")):
        assert kept_as_w(tmp_path, tensor).tolist() == [1, 1, 1]
    with pytest.raises(ArgumentError, match="as_tensor takes a torch tensor, got a list"):
        kept_as_w(tmp_path, [1.0, 1.0, 1.0])


def test_preprocessed_or_sharded_weights_are_compared_too(tmp_path):
    mesh, x = ttnn.open_mesh_device((1, 2)), torch.randn(4, 6)
    ways = {"preprocess": lambda tensor: tensor.T, "mesh_mapper": ttnn.ShardTensorToMesh(mesh, 0)}
    for name, way in ways.items():
        for _ in range(2):
            ttnn.as_tensor(x.T, cache_file_name=tmp_path / name, **{name: way})
        with pytest.raises(TensorFileError, match="holds a tensor made of"):
            ttnn.as_tensor(x.T + 1, cache_file_name=tmp_path / name, **{name: way})
    ttnn.close_mesh_device(mesh)


def test_the_same_weights_in_another_distribution_are_refused(tmp_path):
    mesh, x = ttnn.open_mesh_device((2, 2)), torch.randn(4, 4)
    mappers = [ttnn.ShardTensor2dMesh(mesh, (2, 2), dims) for dims in ((0, 1), (1, 0))]
    for _ in range(2):
        ttnn.as_tensor(x, cache_file_name=tmp_path / "w", mesh_mapper=mappers[0])
    with pytest.raises(
        TensorFileError, match=r"cut by ShardTensor2dMesh of .*\(0, 1\).*, but one of .*\(1, 0\).* is requested"
    ):
        ttnn.as_tensor(x, cache_file_name=tmp_path / "w", mesh_mapper=mappers[1])
    ttnn.close_mesh_device(mesh)


def test_a_renamed_file_of_another_dtype_or_layout_is_refused_by_name(tmp_path):
    kept_as_w(tmp_path, torch.zeros(3), ttnn.float32)
    (tmp_path / "w_dtype_FLOAT32_layout_ROW_MAJOR.tensorbin").rename(
        tmp_path / "w_dtype_BFLOAT16_layout_ROW_MAJOR.tensorbin"
    )
    with pytest.raises(TensorFileError, match=r"dtype is .*FLOAT32, but .*BFLOAT16 is requested"):
        kept_as_w(tmp_path, None, ttnn.bfloat16)


def test_a_foreign_file_is_refused_and_kept(tmp_path):
    path = tmp_path / "w_dtype_None_layout_ROW_MAJOR.tensorbin"
    path.write_bytes(b"another program's")
    with pytest.raises(TensorFileError, match="is no tensor file of ttnn_jit"):
        kept_as_w(tmp_path, torch.zeros(3))
    assert path.read_bytes() == b"another program's"


def test_a_file_of_dump_tensor_is_accepted_for_any_weights_of_its_shape(tmp_path):
    ttnn.dump_tensor(tmp_path / "w_dtype_None_layout_ROW_MAJOR.tensorbin", ttnn.from_torch(torch.ones(3)))
    assert kept_as_w(tmp_path, torch.zeros(3)).tolist() == [1, 1, 1]


def test_parts_for_a_mesh_are_all_stored_and_a_replicated_tensor_once(tmp_path):
    mesh, x = ttnn.open_mesh_device((1, 2)), torch.randn(4, 6)
    for name, mapper in (("cut", ttnn.ShardTensorToMesh(mesh, 0)), ("whole", ttnn.ReplicateTensorToMesh(mesh))):
        for _ in range(2):
            tensor = ttnn.as_tensor(x, device=mesh, mesh_mapper=mapper, cache_file_name=tmp_path / name)
            parts = [part.to_torch() for part in ttnn.get_device_tensors(tensor)]
            assert all(map(torch.equal, parts, mapper.distributed(x)[0]))
    sizes = {path.name.split("_")[0]: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes["whole"] < 2 * x.nbytes + 1000
    ttnn.close_mesh_device(mesh)


def test_a_call_with_neither_tensor_nor_file_is_an_error(tmp_path):
    with pytest.raises(ArgumentError, match="there is no tensor, and no file"):
        ttnn.as_tensor(None, cache_file_name=tmp_path / "none")
    with pytest.raises(ArgumentError, match="`cache_file_name` of as_tensor must be a text or a Path, got 3"):
        ttnn.as_tensor(torch.ones(1), cache_file_name=3)
    assert not list(tmp_path.iterdir())


def test_threads_that_fill_one_cache_at_once_all_get_the_tensor(tmp_path):
    x, results = torch.randn(200, 200), []
    fill = lambda: results.append(ttnn.as_tensor(x, cache_file_name=tmp_path / "x"))  # noqa: E731
    threads = [threading.Thread(target=fill) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(torch.equal(result.to_torch(), x) for result in results)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.process
def test_files_are_read_without_torch(tmp_path):
    ttnn.dump_tensor(tmp_path / "x.tensorbin", ttnn.full((2, 2), 3, ttnn.int32))
    script = f"""if True:
        import sys
        from ttnn_jit import ttnn
        print(ttnn.load_tensor({str(tmp_path / "x.tensorbin")!r}).to_list(), "torch" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[[3, 3], [3, 3]] False\n"
