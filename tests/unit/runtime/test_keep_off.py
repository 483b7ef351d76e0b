"""A helper thread on the CPU of its caller moves away, within its CPU affinity."""

from __future__ import annotations

import ctypes
import os
import threading

import llvmlite.binding as llvm
import pytest

from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.runtime.native.helper_ir import (
    CPU_MASK_BYTES,
    KEEP_OFF_SYMBOL,
    helper_functions,
)
from ttnn_jit.runtime.native.image import image_of
from ttnn_jit.runtime.native.launch_symbols import HostThreads
from ttnn_jit.runtime.native.native import kernel_address
from ttnn_jit.runtime.native.structures import Pool


def helper_text(architecture, threads):
    module = ModuleText()
    return "\n".join([*helper_functions(architecture, threads, module), module.text()])


pytestmark = [
    pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the host cannot say where a thread runs"),
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="the host has no second CPU"),
]


@pytest.fixture(scope="module")
def keep_off():
    """The native function of (state of the pool, CPUs allowed, CPUs set here)."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name = f"@{KEEP_OFF_SYMBOL}("
    text = helper_text("", HostThreads.LINUX).replace(f"define internal void {name}", f"define void {name}")
    machine = llvm.Target.from_default_triple().create_target_machine(opt=0, reloc="pic", codemodel="small")
    address = kernel_address(KEEP_OFF_SYMBOL, image_of(machine.emit_object(llvm.parse_assembly(text))))
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)


class Helper:
    """The state that a helper thread passes."""

    def __init__(self, keep_off):
        self._keep_off = keep_off
        self._state = [ctypes.create_string_buffer(size) for size in (Pool.nbytes, CPU_MASK_BYTES, CPU_MASK_BYTES)]

    def meet_caller(self):
        """Whatever the current CPU, reports the caller as on it too; returns that CPU once the thread has left it."""
        usable = os.sched_getaffinity(0)
        for _ in range(1000):
            cpu = ctypes.CDLL(None).sched_getcpu()
            ctypes.c_int64.from_buffer(self._state[0], Pool.caller_cpu.offset).value = cpu
            self._keep_off(*map(ctypes.addressof, self._state))
            if os.sched_getaffinity(0) != usable:  # otherwise it had already moved
                return cpu
        return None


def in_a_thread(function):
    """The result of `function` in a thread with its own CPU affinity."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_a_helper_thread_leaves_the_cpu_of_its_caller_and_no_other(keep_off):
    def leave_twice():
        helper, usable = Helper(keep_off), os.sched_getaffinity(0)
        first = helper.meet_caller()
        without_first = os.sched_getaffinity(0)
        second = helper.meet_caller()
        return usable, (first, without_first), (second, os.sched_getaffinity(0))

    usable, *left = in_a_thread(leave_twice)
    assert left[0][0] != left[1][0]
    for cpu, rest in left:
        assert rest == usable - {cpu}


@pytest.mark.parametrize(
    ("triple", "pause"), [("x86_64-linux", "pause"), ("aarch64-linux", "yield"), ("riscv64-linux", None)]
)
def test_a_spinning_caller_uses_the_pause_instruction(triple, pause):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)
    text = helper_text(triple.partition("-")[0], HostThreads.POSIX)
    listing = machine.emit_assembly(llvm.parse_assembly(text))
    assert pause is None or f"\t{pause}" in listing


def test_a_thread_bound_to_one_cpu_stays_there(keep_off):
    def stay():
        cpu = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpu})
        return Helper(keep_off).meet_caller(), os.sched_getaffinity(0) == {cpu}

    assert in_a_thread(stay) == (None, True)
