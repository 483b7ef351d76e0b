"""Each damage to a kernel is reported by its own error, at the op."""

from __future__ import annotations

import re

import pytest
import torch

from tests.kernel_texts import arrays, executed, on_one_core, results_and_text, tensor
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError, KernelError

READER, COMPUTE, WRITER = "datamovement_kernel0", "compute_kernel1", "datamovement_kernel2"


@pytest.fixture(scope="module")
def program(module_device):
    """Inputs, results and text of eight tiles on one core; circular buffers hold two."""

    def added(a, b):
        return ttnn.add(ttnn.relu(a), b)

    config = on_one_core(64, 128)
    given = [tensor(module_device, torch.randn(64, 128).bfloat16(), config) for _ in range(2)]
    results, text = results_and_text(added, given)
    return arrays(given), results, text


@pytest.fixture(scope="module")
def module_device():
    with ttnn.manage_device(0) as device:
        yield device


class Kernel:
    """The lines of one kernel in a text, to be damaged."""

    def __init__(self, text, name):
        self.lines = text.split("\n")
        self.start = next(at for at, line in enumerate(self.lines) if f"@{name}(" in line)
        self.end = self.lines.index("  }", self.start)

    def find(self, op, count=0):
        found = [at for at in range(self.start, self.end) if f"ttkernel.{op}(" in self.lines[at]]
        return found[count]

    def without(self, op, count=0):
        del self.lines[self.find(op, count)]
        return self.text

    def twice(self, op):
        at = self.find(op)
        self.lines.insert(at, self.lines[at])
        return self.text

    def swapped(self, op, other):
        first, second = self.find(op), self.find(other)
        self.lines[first], self.lines[second] = self.lines[second], self.lines[first]
        return self.text

    def moved(self, op, behind):
        line = self.lines.pop(self.find(op))
        self.lines.insert(self.find(behind) + 1, line)
        return self.text

    def replaced(self, op, pattern, replacement, count=0):
        at = self.find(op, count)
        self.lines[at], changes = re.subn(pattern, replacement, self.lines[at])
        assert changes
        return self.text

    @property
    def text(self):
        return "\n".join(self.lines)


def located(error, text):
    """The text of the line at which an error points."""
    return text.split("\n")[error.location.line - 1]


DAMAGES = {
    "a reader that does not push": (READER, lambda k: k.without("cb_push_back"), "deadlock", None),
    "a compute kernel that does not push": (COMPUTE, lambda k: k.without("cb_push_back"), "deadlock", None),
    "a compute kernel that does not pop": (COMPUTE, lambda k: k.without("cb_pop_front"), "deadlock", None),
    "a writer that does not pop": (WRITER, lambda k: k.without("cb_pop_front"), "deadlock", None),
    "no read barrier": (
        READER,
        lambda k: k.without("noc_async_read_barrier"),
        "it pushes pages of cb 0 whose bytes a read may still be writing",
        "cb_push_back",
    ),
    "a read barrier behind the push": (
        READER,
        lambda k: k.swapped("noc_async_read_barrier", "cb_push_back"),
        "it pushes pages of cb 0 whose bytes a read may still be writing",
        "cb_push_back",
    ),
    "no write barrier": (
        WRITER,
        lambda k: k.without("noc_async_write_barrier"),
        "it frees pages of cb 2 from which a write may still be reading",
        "cb_pop_front",
    ),
    "a write barrier behind the pop": (
        WRITER,
        lambda k: k.swapped("noc_async_write_barrier", "cb_pop_front"),
        "it frees pages of cb 2 from which a write may still be reading",
        "cb_pop_front",
    ),
    "no reservation by the reader": (
        READER,
        lambda k: k.without("cb_reserve_back"),
        "it writes page 0 of cb 0, which are not reserved",
        "noc_async_read_tile",
    ),
    "no reservation by the packer": (
        COMPUTE,
        lambda k: k.without("cb_reserve_back"),
        "it writes page 0 of cb 2, of which 0 are reserved",
        "pack_tile",
    ),
    "no wait before a copy": (
        COMPUTE,
        lambda k: k.without("cb_wait_front"),
        "it reads page 0 of cb 0, and waited for 0 pages",
        "copy_tile(",
    ),
    "no wait before a write": (
        WRITER,
        lambda k: k.without("cb_wait_front"),
        "it reads page 0 of cb 2, for which nothing waited",
        "noc_async_write_tile",
    ),
    "two pops": (
        COMPUTE,
        lambda k: k.twice("cb_pop_front"),
        "it pops 1 page of cb 0, and waited for 0",
        "cb_pop_front",
    ),
    "two pushes": (
        READER,
        lambda k: k.twice("cb_push_back"),
        "it pushes 1 page of cb 0, of which 0 are reserved",
        "cb_push_back",
    ),
    "no acquire": (
        COMPUTE,
        lambda k: k.without("tile_regs_acquire"),
        "it uses DST, which is not acquired",
        "copy_tile(",
    ),
    "two acquires": (
        COMPUTE,
        lambda k: k.twice("tile_regs_acquire"),
        "DST is acquired already, and was not committed",
        "tile_regs_acquire",
    ),
    "no commit": (COMPUTE, lambda k: k.without("tile_regs_commit"), "deadlock", None),
    "no wait of the packer": (
        COMPUTE,
        lambda k: k.without("tile_regs_wait"),
        "it packs from DST, and the packer has no section",
        "pack_tile",
    ),
    "no release": (
        COMPUTE,
        lambda k: k.without("tile_regs_release"),
        "the packer has a section of DST already, and did not release it",
        "tile_regs_wait",
    ),
    "a math op behind the commit": (
        COMPUTE,
        lambda k: k.moved("add_binary_tile", "tile_regs_commit"),
        "it uses DST, which is not acquired",
        "add_binary_tile(",
    ),
    "a slot that DST does not have": (
        COMPUTE,
        lambda k: k.replaced("relu_tile", r"%\w+", "%c8"),
        "there is no tile 8 in DST, which has 8 tiles of 16 bits",
        "relu_tile(",
    ),
    "a slot that nothing wrote": (
        COMPUTE,
        lambda k: k.without("copy_tile"),
        "it reads tile 0 of DST, which was not written",
        "relu_tile(",
    ),
    "no op that prepares a tile function": (
        COMPUTE,
        lambda k: k.without("relu_tile_init"),
        "the vector engine: nothing set it up",
        "relu_tile(",
    ),
    "no op that prepares the packer": (
        COMPUTE,
        lambda k: k.without("compute_kernel_hw_startup"),
        "the packer: nothing set it up",
        "pack_tile(",
    ),
    "a page that the buffer does not have": (
        COMPUTE,
        lambda k: k.replaced("copy_tile", r"\((%\w+), %\w+,", r"(\1, %c8,"),
        "it reads page 8 of cb 0, and waited for 1 page",
        "copy_tile(",
    ),
    "a page that the tensor does not have": (
        WRITER,
        lambda k: k.replaced("noc_async_write_tile", r"\(%\w+", "(%c8"),
        "there is no page 8 in a tensor of 8",
        "noc_async_write_tile",
    ),
    "no barrier before the end": (
        WRITER,
        lambda k: k.without("noc_async_write_barrier") and k.without("cb_pop_front"),
        "the kernel ends, and no barrier has completed this write",
        "noc_async_write_tile",
    ),
}


def test_an_undamaged_program_has_the_bits_of_native_code(program):
    inputs, results, text = program
    assert [each.tobytes() for each in executed(text, inputs)] == [each.tobytes() for each in results]


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_has_its_own_error_at_its_op(program, damage):
    inputs, _, text = program
    name, change, message, op = DAMAGES[damage]
    kernel = Kernel(text, name)
    if "%c8" not in "\n".join(kernel.lines[kernel.start : kernel.end]):
        kernel.lines.insert(kernel.start + 1, "    %c8 = arith.constant 8 : index")
        kernel.end += 1
    damaged = change(kernel)
    with pytest.raises(KernelError, match=re.escape(message)) as caught:
        executed(damaged, inputs)
    if op is not None:
        assert f"ttkernel.{op}" in located(caught.value, damaged)
        assert f"@{name} on core (0, 0)" in caught.value.message


@pytest.mark.parametrize(
    ("kernel", "filling", "buffer", "reader"),
    [(READER, "noc_async_read_tile", 0, "copy_tile("), (COMPUTE, "pack_tile", 2, "noc_async_write_tile(")],
)
def test_a_page_that_nothing_filled_is_not_read(program, kernel, filling, buffer, reader):
    inputs, _, text = program
    damaged = Kernel(text, kernel).without(filling)
    message = f"it reads page 0 of cb {buffer}, to which nothing was written since it was reserved"
    with pytest.raises(KernelError, match=message) as caught:
        executed(damaged, inputs)
    assert f"ttkernel.{reader}" in located(caught.value, damaged)


@pytest.mark.parametrize(("kernel", "op"), [(READER, "cb_reserve_back"), (COMPUTE, "cb_wait_front")])
def test_a_reservation_or_a_wait_twice_is_one(program, kernel, op):
    inputs, results, text = program
    again = executed(Kernel(text, kernel).twice(op), inputs)
    assert [each.tobytes() for each in again] == [each.tobytes() for each in results]


def test_a_deadlock_says_what_each_thread_waits_for(program):
    inputs, _, text = program
    damaged = Kernel(text, READER).without("cb_push_back")
    with pytest.raises(KernelError) as caught:
        executed(damaged, inputs)
    lines = caught.value.message.split("\n")
    assert len(lines) == 4
    assert "@datamovement_kernel0 on core (0, 0): `ttkernel.cb_reserve_back` at kernels.mlir:" in lines[1]
    assert lines[1].endswith("waits for 1 page of room in cb 1, which has 0 of 2")
    assert lines[2].endswith("waits for 1 page of cb 0, which has 0")
    assert lines[3].endswith("waits for 1 page of cb 2, which has 0")


def test_a_smaller_buffer_is_refused_or_waited_for(program):
    inputs, results, text = program
    one = text.replace("#ttcore.cb_layout<2048x2048, 2>", "#ttcore.cb_layout<2048x2048, 1>")
    assert executed(one, inputs)[0].tobytes() == results[0].tobytes()  # the threads wait for each other more often
    none = re.sub(
        r"memref<1x1x(!ttcore.tile<32x32, bf16>, #ttcore.cb_layout<2048x2048), 2>", r"memref<1x0x\1, 2>", text
    )
    with pytest.raises(KernelError, match="it reserves 1 page of cb 0, whose capacity is 0"):
        executed(none, inputs)


def test_pages_that_are_left_in_a_buffer_are_reported(program):
    inputs, _, text = program
    kernel = Kernel(text, WRITER)
    first = kernel.find("cb_wait_front")
    loop = next(at for at in range(first, kernel.start, -1) if "scf.for" in kernel.lines[at])
    kernel.lines[loop] = kernel.lines[loop].replace("%c4", "%c3")
    kernel.lines.insert(kernel.start + 1, "    %c3 = arith.constant 3 : index")
    with pytest.raises(KernelError, match="pages of cb 2 that it pushed were never popped"):
        executed(kernel.text, inputs)


def test_an_op_that_the_interpreter_does_not_know_is_named(program):
    inputs, _, text = program
    at = Kernel(text, COMPUTE)
    at.lines[at.find("relu_tile")] = "ttkernel.topk_tile_init() : () -> ()"
    with pytest.raises(CompileError, match=r"the interpreter of kernels does not know `ttkernel\.topk_tile_init`"):
        executed(at.text, inputs)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (103712, "cb 1, 4,096 bytes from 103712 on, overlaps cb 0 at 103712"),
        (109000, "cb 2, 4,096 bytes from 111904 on, overlaps cb 1 at 109000"),
        (64, "cb 1 takes 4,096 bytes from 64 on, and L1 is from 103712 to "),
        (1 << 22, "cb 1 takes 4,096 bytes from 4194304 on, and L1 is from 103712 to "),
    ],
)
def test_buffers_lie_apart_from_each_other_in_l1(program, address, reason):
    inputs, _, text = program
    with pytest.raises(CompileError, match=reason):
        executed(text.replace("address = 107808 ", f"address = {address} "), inputs)
