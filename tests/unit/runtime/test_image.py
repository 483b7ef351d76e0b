"""Object files as images run unchanged wherever they are mapped. Code for aarch64 runs in an emulator."""

from __future__ import annotations

import ctypes
import io
from functools import cache

import llvmlite.binding as llvm
import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from tests.unit.kernels.emulated import Machine, is_foreign
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.native.executable import mapped
from ttnn_jit.runtime.native.image import PAGE_BYTES, Image, image_of
from ttnn_jit.runtime.native.launch_ir import launch_text
from ttnn_jit.runtime.native.launch_symbols import BUILTIN_SYMBOLS, KERNEL_SYMBOLS, HostThreads
from ttnn_jit.runtime.native.native import elf_triple, host_cpu

TRIPLES = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
MAC_TRIPLES = ("x86_64-apple-darwin23.0.0", "arm64-apple-macosx14.0.0")
HOST = host_cpu().triple
every_architecture = pytest.mark.parametrize("triple", TRIPLES)
here_and_on_aarch64 = pytest.mark.parametrize("triple", list(dict.fromkeys((HOST, TRIPLES[1]))))

TABLES = """
@few = internal constant [4 x i64] [i64 2, i64 3, i64 5, i64 7], align 64
@bytes = internal constant [4 x i8] c"abcd"
@count = internal global i64 0
@sums = internal global [20000 x i64] zeroinitializer, align 64
define internal i64 @prime(i64 %i) noinline {
  %at = getelementptr i64, ptr @few, i64 %i
  %found = load i64, ptr %at
  ret i64 %found
}
define i64 @look_up(i64 %i) {
  %low = call i64 @prime(i64 %i)
  %at = getelementptr i8, ptr @bytes, i64 %i
  %byte = load i8, ptr %at
  %high = zext i8 %byte to i64
  %scaled = mul i64 %high, 100
  %sum = add i64 %scaled, %low
  ret i64 %sum
}
define i64 @counted(i64 %i) {
  %old = load i64, ptr @count
  %new = add i64 %old, %i
  store i64 %new, ptr @count
  %last = getelementptr i64, ptr @sums, i64 19999
  %kept = load i64, ptr %last
  store i64 %new, ptr %last
  %both = add i64 %kept, %new
  ret i64 %both
}
"""
COPY = """
declare ptr @memcpy(ptr, ptr, i64)
define void @copy(ptr %to, ptr %from) {
  call ptr @memcpy(ptr %to, ptr %from, i64 24)
  ret void
}
"""


@cache
def object_file(text: str, triple: str) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(opt=2, reloc="pic", codemodel="small")
    return machine.emit_object(llvm.parse_assembly(text))


def function_of(data: bytes, name: str, *argument_types):
    image = Image.read(data)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *argument_types)(mapped(image, {}) + image.functions[name])


def called(data: bytes, name: str, *arguments: int) -> int:
    """The result of the function for integers, by this processor or the emulator."""
    if is_foreign(data):
        return Machine(data).call(name, *arguments)
    return function_of(data, name, *[ctypes.c_int64] * len(arguments))(*arguments)


@here_and_on_aarch64
def test_functions_find_their_constants_and_each_other(triple):
    data = image_of(object_file(TABLES, triple))
    assert [called(data, "look_up", i) for i in range(4)] == [9702, 9803, 9905, 10007]


def test_every_mapping_has_memory_of_its_own_that_starts_as_zeros():
    data = image_of(object_file(TABLES, HOST))
    first, second = (function_of(data, "counted", ctypes.c_int64) for _ in range(2))
    assert [first(1), first(2), first(4)] == [1, 1 + 3, 3 + 7]
    assert second(1) == 1


@every_architecture
def test_written_memory_starts_on_a_page_of_its_own(triple):
    image = Image.read(image_of(object_file(TABLES, triple)))
    assert image.zeros >= 20001 * 8
    assert image.zeros_offset % PAGE_BYTES == 0
    assert image.zeros_offset >= len(image.code)


@here_and_on_aarch64
def test_external_functions_are_called_through_the_images_own_slots(triple):
    data = image_of(object_file(COPY, triple))
    source, target = np.arange(3), np.zeros(3, np.int64)
    if is_foreign(data):
        machine = Machine(data)
        addresses = [machine.write(array) for array in (target, source)]
        machine.call("copy", *addresses)
        target = machine.read(addresses[0], target)
    else:
        function_of(data, "copy", ctypes.c_void_p, ctypes.c_void_p)(target.ctypes.data, source.ctypes.data)
    assert np.array_equal(target, source)


def test_a_supplied_function_takes_precedence_over_the_processs():
    swap = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
        lambda to, from_, size: ctypes.memmove(to, bytes(reversed(ctypes.string_at(from_, size))), size)
    )
    image = Image.read(image_of(object_file(COPY, HOST)))
    address = mapped(image, {"memcpy": ctypes.cast(swap, ctypes.c_void_p).value}) + image.functions["copy"]
    target = ctypes.create_string_buffer(24)
    ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)(address)(target, bytes(range(24)))
    assert target.raw == bytes(reversed(range(24)))


def test_an_undefined_function_is_an_internal_error():
    text = "declare void @ttnn_jit_nobody()\ndefine void @f() {\n  call void @ttnn_jit_nobody()\n  ret void\n}\n"
    with pytest.raises(InternalError, match=r"calls .ttnn_jit_nobody., which this process lacks"):
        mapped(Image.read(image_of(object_file(text, HOST))), {})


@every_architecture
def test_an_image_is_an_object_file_that_tools_can_read(triple):
    code = object_file(TABLES, triple)
    elf = ELFFile(io.BytesIO(image_of(code)))
    names = {symbol.name for symbol in elf.get_section_by_name(".symtab").iter_symbols()}
    assert {"look_up", "counted", "prime"} <= names
    assert Image.read(image_of(code)).functions.keys() == {"look_up", "counted"}


@every_architecture
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@x = global i32 7\ndefine ptr @f() {\n  ret ptr @x\n}\n", "initialized writable memory"),
        ("@x = external global i32\ndefine ptr @f() {\n  ret ptr @x\n}\n", "a relocation of type"),
        ("@x = external thread_local global i32\ndefine ptr @f() {\n  ret ptr @x\n}\n", "a relocation of type"),
    ],
    ids=["initialized", "elsewhere", "of threads"],
)
def test_symbols_that_no_kernel_needs_are_refused(text, message, triple):
    with pytest.raises(InternalError, match=message):
        image_of(object_file(text, triple))


def test_a_file_that_is_no_object_file_of_a_known_host_is_refused():
    for code in (b"", b"MZ" + bytes(200), object_file(COPY, "x86_64-apple-darwin23.0.0")):
        with pytest.raises(InternalError, match="not an ELF object file for x86-64 or aarch64"):
            image_of(code)


@pytest.mark.parametrize("triple", [*TRIPLES, *MAC_TRIPLES])
@pytest.mark.parametrize("threads", HostThreads)
def test_the_launch_code_of_every_host_becomes_an_image(triple, threads):
    text = launch_text(triple.partition("-")[0], threads)
    image = Image.read(image_of(object_file(text, elf_triple(triple))))
    assert image.functions.keys() == {*BUILTIN_SYMBOLS, *KERNEL_SYMBOLS, *threads.symbols}
