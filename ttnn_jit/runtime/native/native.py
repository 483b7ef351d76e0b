"""The loader, from images to addresses of native functions; and the description of the host's processor.

llvmlite is imported inside functions: importing it is slow, and programs without native code need none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache

from ttnn_jit.diagnostics.errors import InternalError, ProgramFormatError
from ttnn_jit.process.compile_lock import compiles, compiling, interrupts_postponed
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.executable import address_in_process, mapped
from ttnn_jit.runtime.native.image import Image, image_of
from ttnn_jit.runtime.native.launch_symbols import (
    BUILTIN_SYMBOLS,
    CALL_SYMBOL,
    KERNEL_SYMBOLS,
    PYTHON_API,
    HostThreads,
)


@dataclass(frozen=True)
class HostCpu:
    """A processor in LLVM's terms.

    Attributes:
        triple: Architecture, vendor, system.
        name: Processor name, ``znver4``.
        features: Comma-separated, each with + or -.
    """

    triple: str
    name: str
    features: str

    def runs(self, built_for: HostCpu) -> bool:
        """Whether this processor has every feature that code built for `built_for` may use."""
        return self.triple == built_for.triple and _enabled(built_for.features) <= _enabled(self.features)


def _host_threads() -> HostThreads:
    if sys.platform == "linux":
        return HostThreads.LINUX
    return HostThreads.POSIX if os.name == "posix" else HostThreads.NONE


HOST_THREADS = _host_threads()


def _enabled(features: str) -> set[str]:
    return {feature for feature in features.split(",") if feature.startswith("+")}


@cache
@compiles
def host_cpu() -> HostCpu:
    """The processor that this process runs on."""
    import llvmlite.binding as llvm

    return HostCpu(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def llvm_version() -> str:
    """Versions of llvmlite and of the LLVM in it."""
    import llvmlite
    from llvmlite.binding import llvm_version_info

    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm_version_info))}"


LAUNCH_FUNCTIONS = frozenset({*BUILTIN_SYMBOLS, *KERNEL_SYMBOLS, *HOST_THREADS.symbols})
"""The functions that `launch_address` knows."""

KeptCode = Callable[[str, Callable[[], bytes], Callable[[bytes], bool]], bytes]
"""Returns the image of a name, from a cache if a stored image satisfies the predicate; else the assembler's result.

Its arguments are the name, the assembler and the predicate."""


class _Loader:
    """Functions of this process by symbol. An image is mapped once and stays: programs share kernels by name."""

    def __init__(self) -> None:
        self._addresses: dict[str, int] = {}

    def kernel_address(self, symbol: str, code: bytes, called: Mapping[str, int] = {}) -> int:
        """The address of the function `symbol` of an image, which is loaded unless the symbol is known.

        Args:
            symbol: The symbol of the function.
            code: The image.
            called: Addresses of functions of other images that it may call, by symbol.

        Raises:
            InternalError: The image does not define the symbol, or calls an undefined function.
        """
        found = self._addresses.get(symbol)
        if found is not None:
            return found
        with compiling():
            if symbol not in self._addresses:
                self._load(Image.read(code), called)
            if symbol not in self._addresses:
                raise InternalError(f"native code of {symbol} does not define it")
            return self._addresses[symbol]

    def launch_address(self, symbol: str) -> int:
        """The address of a function of launch_ir.py, helper_ir.py or copy_ir.py."""
        found = self._addresses.get(symbol)
        if found is not None:
            return found
        self.load_launch_code(lambda _, assemble, __: assemble())
        return self._addresses[symbol]

    def load_launch_code(self, kept: KeptCode) -> None:
        """Load the functions of `launch_address` from a cache; without it the first look-up assembles them."""
        if CALL_SYMBOL in self._addresses:
            return
        with compiling():
            if CALL_SYMBOL not in self._addresses:
                name = f"launch code: {HOST_THREADS.value}"
                self._load(Image.read(kept(name, _assembled_launch_code, _is_launch_code)))

    def _load(self, image: Image, called: Mapping[str, int] = {}) -> None:
        start = mapped(image, called)
        self._addresses |= {symbol: start + offset for symbol, offset in image.functions.items()}


def _is_launch_code(data: bytes) -> bool:
    """Whether an image defines the functions of the launch code, and calls only functions that exist."""
    try:
        image = Image.read(data)
        for symbol in image.called:
            address_in_process(symbol)
    except InternalError:
        return False
    return (
        image.functions.keys() == LAUNCH_FUNCTIONS
        and image.called.keys() >= set(PYTHON_API)
        and image.signature is None
    )


@interrupts_postponed()
def _assembled_launch_code() -> bytes:
    import llvmlite.binding as llvm

    from ttnn_jit.runtime.native.launch_ir import launch_text

    text = launch_text(host_cpu().triple.partition("-")[0], HOST_THREADS)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # Without optimisation: it would cost compile time where there is no disk cache, and hardly speed up calls.
    target = llvm.Target.from_triple(elf_triple(host_cpu().triple))
    machine = target.create_target_machine(opt=0, reloc="pic", codemodel="small")
    return image_of(machine.emit_object(llvm.parse_assembly(text)))


def elf_triple(triple: str) -> str:
    """`triple` with ELF as the object format, which images need; macOS's own format is Mach-O."""
    return f"{triple}-elf" if "-darwin" in triple or "-macos" in triple else triple


_LOADER = _Loader()
kernel_address = _LOADER.kernel_address
launch_address = _LOADER.launch_address
load_launch_code = _LOADER.load_launch_code


def require_runnable(built_for: HostCpu, name: str) -> None:
    """Refuse code that this processor cannot run, which would die on an illegal instruction.

    Raises:
        ProgramFormatError: The processor lacks a feature that the code was built for.
    """
    host = host_cpu()
    if built_for == host or host.runs(built_for):
        return
    lacking = ", ".join(sorted(_enabled(built_for.features) - _enabled(host.features))) or built_for.triple
    raise ProgramFormatError(
        f"program {name} was built for {built_for.name}; this processor, {host.name}, lacks {lacking}",
        help="compile it on this machine",
    )
