"""Programs: calls, refusals, bytes."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import torch

from tests.unit.runtime.kernels import object_code, program, row_major, tiled
from ttnn_jit.diagnostics.errors import (
    ArgumentError,
    DeallocatedError,
    DeviceError,
    InternalError,
    ProgramFormatError,
)
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.elements.torch_elements import torch_tensor
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.entry import entry
from ttnn_jit.runtime.native.native_call import RELEASE_GIL_BYTES, link
from ttnn_jit.runtime.programs.program import Launch, Program, ProgramPlan
from ttnn_jit.runtime.tensors.tensors_from_host import from_torch
from ttnn_jit.specs.target import PRESETS

SPEC = row_major(6, 7)


@pytest.fixture
def chip():
    with Device(PRESETS["wormhole_b0"], 0) as opened:
        yield opened


@pytest.fixture
def x():
    return torch.randn(6, 7)


@pytest.fixture
def tensor(x, chip):
    return from_torch(x, SPEC, chip)


def neg() -> Program:
    return program(SPEC, 1, ("t_neg", (0, 1)))


def minus_three_x() -> Program:
    """-(x + y) - x over two intermediates."""
    return program(SPEC, 2, ("t_add", (0, 1, 3)), ("t_neg", (3, 4)), ("t_sub", (4, 0, 2)), temps=2)


def test_one_kernel_runs_and_the_result_is_on_the_first_tensors_device(tensor, x, chip):
    result = neg()(tensor)
    assert torch.equal(result.to_torch(), -x)
    assert result.device() is chip
    assert result.spec is SPEC


def test_operands_are_passed_in_the_order_of_the_launch(chip):
    a, b = torch.randn(6, 7), torch.randn(6, 7)
    swapped = program(SPEC, 2, ("t_sub", (1, 0, 2)))
    assert torch.equal(swapped(from_torch(a, SPEC, chip), from_torch(b, SPEC, chip)).to_torch(), b - a)


def test_several_kernels_run_over_intermediates(tensor, x):
    assert torch.equal(minus_three_x()(tensor, tensor).to_torch(), -(x + x) - x)


def test_one_kernel_launched_twice_is_one_object(tensor, x):
    twice = program(SPEC, 1, ("t_double", (0, 2)), ("t_double", (2, 1)), temps=1)
    assert len(twice.objects) == 1
    assert torch.equal(twice(tensor).to_torch(), 4 * x)


def test_the_kernels_of_a_call_follow_each_other_in_one_native_call(tensor, monkeypatch):
    calls = []
    linked = link(minus_three_x().plan, minus_three_x().objects)
    monkeypatch.setattr(
        "ttnn_jit.runtime.native.native_call.link",
        lambda *_, **__: replace(linked, function=lambda *a: (calls.append(1), linked.function(*a))[1]),
    )
    minus_three_x()(tensor, tensor)
    assert len(calls) == 1


def test_a_function_that_returns_its_argument_gives_the_same_tensor(tensor, x):
    both = program(SPEC, 1, ("t_neg", (0, 1)), results=(0, 1, 1))
    first, second, third = both(tensor)
    assert first is tensor
    assert torch.equal(second.to_torch(), -x)
    assert torch.equal(third.to_torch(), -x)


def test_a_program_without_kernels_needs_no_code(tensor):
    identity = Program(ProgramPlan("identity", (SPEC,), (), (), (), results=(0,)), {})
    assert identity(tensor) is tensor


def test_a_program_without_inputs_runs_on_the_implicit_cpu_device():
    plan = ProgramPlan("nothing", (), (SPEC,), (), ())
    assert Program(plan, {})().device().target.name == "cpu"


def test_empty_tensors_run(chip):
    spec = row_major(0, 5)
    empty = program(spec, 1, ("t_neg", (0, 1)))
    assert empty(from_torch(torch.zeros(0, 5), spec, chip)).to_torch().shape == (0, 5)


def test_run_works_on_memory_of_the_callers(x):
    source, result = x.clone(), torch.empty(6, 7)
    minus = minus_three_x()
    assert minus.run(source.data_ptr(), source.data_ptr(), result.data_ptr()) is None
    assert torch.equal(result, -(x + x) - x)
    (buffer,) = minus.allocate_outputs()
    minus.run(source.data_ptr(), source.data_ptr(), buffer.address)
    assert torch.equal(torch_tensor(SPEC, buffer), -(x + x) - x)


def test_threads_share_a_program(chip):
    spec = row_major(64, 64)
    shared = program(spec, 2, ("t_add", (0, 1, 3)), ("t_neg", (3, 4)), ("t_sub", (4, 0, 2)), temps=2)
    failures = []

    def work(seed):
        x = torch.full((64, 64), float(seed))
        tensor = from_torch(x, spec, chip)
        for _ in range(200):
            if not torch.equal(shared(tensor, tensor).to_torch(), -3 * x):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_big_programs_let_other_threads_run():
    small, big = program(SPEC, 1, ("t_neg", (0, 1))), program(row_major(512, 512), 1, ("t_neg", (0, 1)))
    assert small.plan.bytes_touched < RELEASE_GIL_BYTES <= big.plan.bytes_touched
    assert link(small.plan, small.objects).function is entry(releases_gil=False)
    assert link(big.plan, big.objects).function is entry(releases_gil=True)


def test_a_tensor_of_another_spec_is_refused_with_both_specs(chip):
    other = from_torch(torch.ones(7, 6), row_major(7, 6), chip)
    with pytest.raises(ArgumentError, match=r"test: argument 0 is .*\[7, 6\].*compiled for .*\[6, 7\]"):
        neg()(other)


def test_non_tensors_host_tensors_and_wrong_counts_are_refused(tensor, x):
    for call in (neg(), warm(neg(), tensor)):
        with pytest.raises(ArgumentError, match=r"argument 0 is a torch.Tensor, not a ttnn tensor\nhelp: .*from_torch"):
            call(x)
        with pytest.raises(ArgumentError, match="argument 0 is on the host"):
            call(tensor.cpu())
    with pytest.raises(ArgumentError, match="takes 1 tensors, got 2"):
        neg()(tensor, tensor)


def warm(made: Program, tensor) -> Program:
    made(tensor)
    return made


def test_a_deallocated_tensor_is_refused_by_name(tensor):
    call = warm(neg(), tensor)
    tensor.deallocate()
    with pytest.raises(DeallocatedError, match="test: the tensor was deallocated"):
        call(tensor)


def test_a_closed_device_is_refused(tensor, chip):
    call = warm(neg(), tensor)
    chip.close()
    with pytest.raises(DeviceError, match="test: Device"):
        call(tensor)


def test_devices_mix_only_when_their_targets_agree(x, chip):
    add = program(SPEC, 2, ("t_add", (0, 1, 2)))
    first = from_torch(x, SPEC, chip)
    same = from_torch(x, SPEC, Device(PRESETS["wormhole_b0"], 1))
    other = from_torch(x, SPEC, Device(PRESETS["cpu"], 1))
    assert torch.equal(add(first, same).to_torch(), x + x)
    with pytest.raises(ArgumentError, match="devices of different targets"):
        add(first, other)


def test_a_plan_with_unknown_values_is_an_internal_error():
    with pytest.raises(InternalError, match="a launch names a buffer"):
        ProgramPlan("bad", (SPEC,), (SPEC,), (), (Launch("k", (0, 2), ()),))
    with pytest.raises(InternalError, match="neither an input nor an output"):
        ProgramPlan("bad", (SPEC,), (SPEC,), (SPEC,), (), results=(2,))
    with pytest.raises(InternalError, match="no object code for k"):
        Program(ProgramPlan("bad", (SPEC,), (SPEC,), (), (Launch("k", (0, 1), (42, 1, 1)),)), {})


def test_code_without_the_function_is_an_internal_error():
    with pytest.raises(InternalError, match="native code of t_absent does not define it"):
        native.kernel_address("t_absent", object_code("t_neg"))
    with pytest.raises(InternalError, match="native code is not an image"):
        native.kernel_address("t_absent", object_code("t_neg")[:-1])


def test_a_kernel_is_loaded_once_for_all_programs():
    first = native.kernel_address("t_neg", object_code("t_neg"))
    assert native.kernel_address("t_neg", object_code("t_neg")) == first


def test_a_program_round_trips_through_bytes(tensor, x):
    original = Program(
        minus_three_x().plan,
        minus_three_x().objects,
        descriptors=[{"kernel": "t_add", "cbs": [{"access": "alias", "page_size": 4096, "num_pages": 2}]}],
        texts={"frontend": "module {}"},
        notes={"structure": [0, {"a": 1}]},
    )
    again = Program.from_bytes(original.to_bytes())
    assert again.plan == original.plan
    assert again.objects == original.objects
    assert again.descriptors == original.descriptors
    assert again.notes == original.notes
    assert again.ir("frontend") == "module {}"
    assert again.hash == original.hash
    assert again.to_bytes() == original.to_bytes()
    assert torch.equal(again(tensor, tensor).to_torch(), -(x + x) - x)


def test_a_program_round_trips_through_files(tmp_path, tensor, x):
    neg().save(tmp_path / "neg.ttnnp")
    assert [path.name for path in tmp_path.iterdir()] == ["neg.ttnnp"]
    assert torch.equal(Program.load(tmp_path / "neg.ttnnp")(tensor).to_torch(), -x)


def test_tiled_sharded_and_strided_specs_round_trip():
    plan = ProgramPlan("specs", tuple(_specs()), (), (), (), results=(0,))
    assert Program.from_bytes(Program(plan, {}).to_bytes()).plan == plan


def _specs():
    from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
    from ttnn_jit.specs.tensor_spec import CoreGrid, DataType, Layout, ShardOrientation, ShardStrategy, TensorSpec

    yield tiled(3, 32, 64)
    yield TensorSpec((), DataType.BFLOAT16)
    yield TensorSpec((2, 3), DataType.FLOAT32, strides=(1, -2))
    for orientation in ShardOrientation:
        config = create_sharded_memory_config((64, 64), CoreGrid(x=2, y=2), ShardStrategy.BLOCK, orientation)
        yield TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE, config)


def test_hashes_differ_by_shape_and_not_by_texts():
    assert neg().hash != program(row_major(7, 6), 1, ("t_neg", (0, 1))).hash
    assert neg().hash == Program(neg().plan, neg().objects, texts={"frontend": "x"}).hash


def test_an_error_about_a_stage_without_text_names_those_with_one():
    made = Program(neg().plan, neg().objects, texts={"frontend": "module {}"})
    with pytest.raises(ArgumentError, match="no text of stage 'canonicalize'\nhelp: its stages: frontend"):
        made.ir("canonicalize")


def test_bytes_of_something_else_or_of_another_version_are_refused():
    data = neg().to_bytes()
    with pytest.raises(ProgramFormatError, match="not a ttnn_jit program"):
        Program.from_bytes(b"\x7fELF" + data)
    with pytest.raises(ProgramFormatError, match="format version 16; this ttnn_jit reads 15"):
        Program.from_bytes(data[:4] + b"\x10\0\0\0" + data[8:])
    with pytest.raises(ProgramFormatError, match="checksum"):
        Program.from_bytes(data[:-1])


def test_code_for_another_processor_is_refused_before_it_runs(tensor):
    host = native.host_cpu()
    lesser = replace(host, name="x", features="-avx512f")
    made = neg()
    assert Program(made.plan, made.objects, built_for=lesser)(tensor) is not None
    foreign = replace(host, name="future", features=host.features + ",+avx9999")
    refused = Program.from_bytes(Program(made.plan, made.objects, built_for=foreign).to_bytes())
    with pytest.raises(ProgramFormatError, match=r"was built for future; this processor, .*, lacks \+avx9999"):
        refused(tensor)
