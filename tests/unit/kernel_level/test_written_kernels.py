"""Kernels with ops that no pass writes: other engines, other cores, semaphores, rows and tiles."""

from __future__ import annotations

import re

import pytest
import torch

from tests.kernel_texts import arrays, executed, on_one_core, results_and_text, tensor
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import KernelError
from ttnn_jit.tools.cli import opt_main

TILES = "!ttkernel.cb<1, !ttcore.tile<32x32, f32>>"


@pytest.fixture(scope="module")
def module_device():
    with ttnn.manage_device(0) as device:
        yield device


@pytest.fixture(scope="module")
def one_core(module_device):
    """Two tensors of a tile, and the text of their sum on one core."""
    given = [tensor(module_device, torch.randn(32, 32), on_one_core(32, 32)) for _ in range(2)]
    _, text = results_and_text(lambda a, b: ttnn.add(a, b), given)
    return given, text


def with_compute(text, *lines):
    """The text with another body between the waits and the pops of the compute kernel, which is a loop of one trip."""
    start = text.index("ttkernel.tile_regs_acquire")
    end = text.index("ttkernel.cb_pop_front", start)
    body = "\n".join(f"      {line}" for line in lines)
    constants = "    %c7 = arith.constant 7 : index\n    %i0 = arith.constant 0 : i32\n"
    at = text.index("\n", text.index("@compute_kernel1()")) + 1
    return text[:at] + constants + text[at:start] + body.lstrip() + "\n    " + text[end:]


PACKED = (
    "ttkernel.tile_regs_commit() : () -> ()",
    "ttkernel.tile_regs_wait() : () -> ()",
    f"ttkernel.pack_tile(%c0, %2, %c0, true) : (index, {TILES}, index) -> ()",
    "ttkernel.tile_regs_release() : () -> ()",
)


def on_two(name):
    return (
        f"ttkernel.{name}_init(%0, %1) : ({TILES}, {TILES}) -> ()",
        "ttkernel.tile_regs_acquire() : () -> ()",
        f"ttkernel.{name}(%0, %1, %c0, %c0, %c0) : ({TILES}, {TILES}, index, index, index) -> ()",
        *PACKED,
    )


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("add_tiles", lambda a, b: a + b),
        ("sub_tiles", lambda a, b: a - b),
        ("mul_tiles", lambda a, b: a * b),
    ],
)
def test_the_matrix_engine_combines_tiles_of_two_buffers(one_core, name, wanted):
    given, text = one_core
    written = with_compute(text, *on_two(name))
    a, b = arrays(given)
    assert (executed(written, [a, b])[0] == wanted(a, b)).all()
    unprepared = written.replace(f"ttkernel.{name}_init(%0, %1) : ({TILES}, {TILES}) -> ()", "")
    with pytest.raises(KernelError, match=f"`ttkernel.{name}` in .*: the matrix engine and the unpackers: nothing set"):
        executed(unprepared, [a, b])


def test_a_tile_is_transposed_and_reused(one_core):
    given, text = one_core
    a, b = arrays(given)
    written = with_compute(
        text,
        "ttkernel.tile_regs_acquire() : () -> ()",
        f"ttkernel.transpose_wh_init(%0, %2) : ({TILES}, {TILES}) -> ()",
        f"ttkernel.transpose_wh_tile(%0, %c0, %c0) : ({TILES}, index, index) -> ()",
        f"ttkernel.binary_dest_reuse_tiles_init(%1, <sub>, <dest_to_srca>) : ({TILES}) -> ()",
        f"ttkernel.binary_dest_reuse_tiles(%1, %c0, %c0, <sub>, <dest_to_srca>) : ({TILES}, index, index) -> ()",
        *PACKED,
    )
    assert (executed(written, [a, b])[0] == a.T - b).all()


def test_rows_become_tiles_and_tiles_rows(one_core):
    given, text = one_core
    a, b = arrays(given)
    rows = "!ttkernel.cb<1024, f32>"
    buffer = "memref<32x32xf32, #ttcore.cb_layout<128x4, 1>, #ttcore.memory_space<l1>>"
    written = text.replace(
        '"ttmetal.enqueue_program"(',
        f'%rows = "ttmetal.create_buffer"() <{{address = 300000 : i64}}> : () -> {buffer}\n'
        '    "ttmetal.enqueue_program"(',
    )
    written = re.sub(r"cb_ports = array<i64: 0, 1, 2>", "cb_ports = array<i64: 0, 1, 2, 3>", written)
    written = re.sub(r"(enqueue_program\"\([^)]*)\)", r"\1, %rows)", written)
    written = written.replace("operandSegmentSizes = array<i32: 3, 3>", "operandSegmentSizes = array<i32: 3, 4>")
    written = re.sub(r"(array<i32: 3, 4>\}> : \(.*)\) -> \(\)", rf"\1, {buffer}) -> ()", written)
    ports = r"(compute_config<@compute_kernel1.*?ct_args = \[<[^>]*>(?:, <[^>]*>)*)\]"
    written = re.sub(ports, r"\1, <cb_port[3]>]", written, count=1)
    one = "%c1_i32"
    written = with_compute(
        written,
        f"%rows = ttkernel.get_compile_time_arg_val(3) : () -> {rows}",
        f"ttkernel.untilize_init(%0) : ({TILES}) -> ()",
        f"ttkernel.cb_reserve_back(%rows, {one}) : ({rows}, i32) -> ()",
        f"ttkernel.untilize_block(%0, {one}, %rows) : ({TILES}, i32, {rows}) -> ()",
        f"ttkernel.cb_push_back(%rows, {one}) : ({rows}, i32) -> ()",
        f"ttkernel.cb_wait_front(%rows, {one}) : ({rows}, i32) -> ()",
        f"ttkernel.tilize_init(%rows, {one}, %2) : ({rows}, i32, {TILES}) -> ()",
        f"ttkernel.tilize_block(%rows, {one}, %2) : ({rows}, i32, {TILES}) -> ()",
        f"ttkernel.cb_pop_front(%rows, {one}) : ({rows}, i32) -> ()",
    )
    assert (executed(written, [a, b])[0] == a).all()


SEMAPHORES = """
    %sem = ttkernel.get_arg_val(%zero) : (index) -> !ttkernel.local_semaphore
    %ptr = ttkernel.reinterpret_cast(%sem) : (!ttkernel.local_semaphore) -> !ttkernel.l1_addr_ptr
    %x = ttkernel.my_logical_x_ : () -> index
    %first = arith.cmpi eq, %x, %zero : index
    scf.if %first {
      %there = ttkernel.get_noc_addr(%one, %zero, %sem) : (index, index, !ttkernel.local_semaphore)
        -> !ttkernel.noc_addr
      ttkernel.noc_semaphore_inc(%there, %one) : (!ttkernel.noc_addr, index) -> ()
    } else {
      ttkernel.experimental.semaphore_wait(%ptr, %one) : (!ttkernel.l1_addr_ptr, index) -> ()
    }
"""


def two_cores(module_device, body):
    """A program on two cores whose readers begin with a body."""
    given = [tensor(module_device, torch.randn(32, 64))]
    results, text = results_and_text(lambda a: ttnn.exp(a), given)
    text = text.replace(
        '"ttmetal.enqueue_program"(',
        '%sem = "ttmetal.create_local_semaphore"() <{initial_value = 0 : ui32}> : () -> !ttmetal.local_semaphore\n'
        '    "ttmetal.enqueue_program"(',
    )
    text = re.sub(r"(enqueue_program\"\(%\w+, %\w+)", r"\1, %sem", text)
    text = text.replace("operandSegmentSizes = array<i32: 2, 2>", "operandSegmentSizes = array<i32: 3, 2>")
    text = re.sub(
        r"(array<i32: 3, 2>\}> : \((?:memref<[^#]*#[^#]*#\w+>, ){2})", r"\1!ttmetal.local_semaphore, ", text, count=1
    )
    text = re.sub(r"(noc_config<@datamovement_kernel0.*?\]) ", r"\1 rt_args = [<local_semaphore[2]>]", text, count=1)
    at = text.index("\n", text.index("@datamovement_kernel0() attributes")) + 1
    constants = "    %zero = arith.constant 0 : index\n    %one = arith.constant 1 : index"
    return given, results, text[:at] + constants + body + text[at:]


def test_a_core_waits_for_a_semaphore_that_another_increments(module_device):
    given, results, text = two_cores(module_device, SEMAPHORES)
    assert executed(text, arrays(given))[0].tobytes() == results[0].tobytes()


def test_a_semaphore_that_nothing_sets_is_a_deadlock(module_device):
    given, _, text = two_cores(module_device, re.sub(r"\n.*noc_semaphore_inc.*", "", SEMAPHORES))
    with pytest.raises(
        KernelError, match=r"deadlock(.|\n)*on core \(0, 1\).* until the semaphore at \d+ is 1; it is 0"
    ):
        executed(text, arrays(given))


def test_an_address_of_a_core_that_runs_nothing_is_refused(module_device):
    given, _, text = two_cores(
        module_device,
        SEMAPHORES.replace("get_noc_addr(%one", "get_noc_addr(%seven").replace(
            "    %sem =", "    %seven = arith.constant 7 : index\n    %sem =", 1
        ),
    )
    with pytest.raises(KernelError, match=r"no kernel runs on the core \(0, 7\), whose L1 it names"):
        executed(text, arrays(given))


def test_threads_of_kernels_that_are_not_of_this_compiler_are_refused_and_not_left(tmp_path, capsys):
    thread = 'attributes {d2m.thread = #d2m.thread<datamovement>, tt.function_type = "kernel"}'
    (tmp_path / "thread.mlir").write_text(f"""module {{
      func.func private @thread() {thread} {{
        %number = d2m.get_arg(2) : ui32
        return
      }}
    }}""")
    assert opt_main(["--ttcore-register-device", "--convert-d2m-to-ttkernel", str(tmp_path / "thread.mlir")]) == 1
    assert "failed to legalize operation 'd2m.get_arg'" in capsys.readouterr().err
