"""The commands of ttrt and their options: names, types, defaults, meanings.

The options are those of tt-mlir's ttrt of December 2025 and August 2026, and a few of its older document. An option
that only concerns a chip either has no effect, and `without_effect` says why, or is refused, and `refusal` says what to
do instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.tools.option_values import one_of, target_name

ALL_PROGRAMS = "all"
ARTIFACTS = "ttrt-artifacts"
ARTIFACTS_MARK = ".ttrt"
"""The file by which a folder of artifacts is known: it may be removed, and its copies are no binaries to run."""
SECTIONS = (
    "all", "cpp", "inputs", "mesh_shape", "mlir", "op_stats", "outputs", "system_desc", "version",
)  # fmt: skip
INITIALIZERS = ("arange", "ones", "randn", "zeros")
MEMORY_LOG_LEVELS = ("none", "program", "operation", "any")
PERF_FILTERS = ("const_eval", "input_layout_conversion")


class ProgramNumber(str):
    """The number of a program, or `ALL_PROGRAMS`.

    Raises:
        ValueError: The text is neither.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> ProgramNumber:
        """From its text."""
        if text != ALL_PROGRAMS and (not text.isdecimal() or int(text) < 0):  # int: too long a number has no value
            raise ValueError(text)
        return super().__new__(cls, text)


@dataclass(frozen=True)
class Option:
    """An option, or the argument, of a command.

    Attributes:
        name: Its name, with dashes; an argument's has none.
        kind: The type of its value; a `bool` is a switch.
        default: Its value where it is not given.
        meaning: What it does.
        choices: The only values that it takes; None for any.
        without_effect: Why it chooses nothing here; empty if it does.
        refusal: Why it is refused where it is given, and what to do instead; empty if it is not.
        check: Raises `ArgumentError` for a value of the kind that it does not take.
    """

    name: str
    kind: type
    default: Any
    meaning: str
    choices: tuple[str, ...] | None = None
    without_effect: str = ""
    refusal: str = ""
    check: Callable[[Any], object] | None = None

    @property
    def is_argument(self) -> bool:
        """Whether it is given by position."""
        return not self.name.startswith("-")

    @property
    def attribute(self) -> str:
        """Its name in a namespace of argparse."""
        return self.name.lstrip("-").replace("-", "_")


@dataclass(frozen=True)
class CommandDeclaration:
    """A command.

    Attributes:
        name: Its name on the command line, and of its module.
        class_name: The name of its class.
        summary: What it does.
        options: Its argument, if it has one, and its options.
        refusal: Why it is refused, and what to do instead; empty if it is not.
    """

    name: str
    class_name: str
    summary: str
    options: tuple[Option, ...]
    refusal: str = ""

    def option(self, name: str) -> Option | None:
        """The option of a name, with or without dashes; None if there is none."""
        wanted = name.lstrip("-").replace("-", "_")
        return next((each for each in self.options if each.attribute == wanted), None)


def _at_least(least: int) -> Callable[[Any], None]:
    """The check of a number."""

    def check(value: Any) -> None:
        if value < least:
            raise ArgumentError(f"takes a number of at least {least}, got {value}")

    return check


def _require_schedule(value: str) -> None:
    if value and not re.fullmatch(r"\d+:\d+(,\d+:\d+)*", value):
        raise ArgumentError(f"takes `index:loop,...`, got {value!r}", help="such as 0:1,2:3")


def perf_filters(value: str) -> list[str]:
    """The filters of `perf` that a text names.

    Raises:
        ArgumentError: There is no such filter.
    """
    given = [each.strip().lower() for each in value.split(",") if each.strip()]
    return [one_of(each, PERF_FILTERS, "filter") for each in given]


def is_system_file(value: str) -> bool:
    """Whether a system is named by a file, and not by a preset."""
    return bool(value) and (os.sep in value or bool(Path(value).suffix))


def _require_system(value: str) -> None:
    if value and not is_system_file(value):
        target_name(value)


def _switch(name: str, meaning: str, *, without_effect: str = "", refusal: str = "") -> Option:
    return Option(name, bool, False, meaning, None, without_effect, refusal)


_NO_KERNELS = "a .ttnn holds operations, and their kernels are compiled for this processor"
_NO_DISPATCH = "nothing is dispatched to cores of a chip"
_NO_DEVICE_PROFILE = "no device writes a profile"
_NO_WORKAROUND = "no workaround for a chip is applied"

_CLEAN = _switch("--clean-artifacts", "first remove the folder of artifacts, if ttrt made it")
_SAVE = _switch("--save-artifacts", "save artifacts: binaries, tensors, reports")
_LOG = Option("--log-file", str, "", "also write the log to this file")
_FOLDER = Option("--artifact-dir", str, "", f"the folder of artifacts; by default {ARTIFACTS} in TT_MLIR_HOME or here")
_BINARY = Option("binary", str, "", "a file (.ttnn, .ttm), or a folder with such files")
_IGNORE_VERSION = _switch("--ignore-version", "run binaries of another version or system; a warning names them")
CHIP = "chip"
_NUMERICS = Option(
    "--numerics",
    str,
    CHIP,
    "whose numbers are computed: of the chip for which a binary was compiled (products of fewer bits, denormals are "
    "zero), or of a cpu",
    (CHIP, "cpu"),
)
_LOOPS = Option("--loops", int, 1, "how often each program runs", check=_at_least(1))
_PROGRAM = Option(
    "--program-index", ProgramNumber, ALL_PROGRAMS, f"the number of the program to run, or {ALL_PROGRAMS}"
)
_ENABLE_GOLDEN = _switch("--enable-golden", "compare every operation, by this package's goldens where none are stored")
_DISABLE_GOLDEN = _switch("--disable-golden", "compare nothing, not even with the goldens that a binary holds")
_MEMORY = _switch("--memory", "report the memory after every operation (with --save-artifacts)")
_PRINT = _switch("--print-input-output-tensors", "print the tensors that programs take and give")
_BENCHMARK = _switch("--benchmark", "run program 0 twice, the first time to warm up, and compare nothing")
_NO_CALLBACKS = _switch("--disable-ttrt-callbacks", "call nothing around operations: programs run as they are compiled")
_ETH_DISPATCH = _switch("--disable-eth-dispatch", "dispatch from worker cores", without_effect=_NO_DISPATCH)
_PROGRAM_CACHE = Option(
    "--enable-program-cache", bool, True, "cache programs", without_effect="programs are always cached"
)
_TRACE_REGION = Option("--trace-region-size", int, 0, "bytes of the trace region", without_effect=_NO_DISPATCH)
_DEVICE_RATE = Option(
    "--dump-device-rate", int, 1000, "operations between two reads of a profile", without_effect=_NO_DEVICE_PROFILE
)
_FABRIC = Option(
    "--fabric-config",
    str,
    "fabric_1d",
    "how chips are linked",
    ("disabled", "fabric_1d", "fabric_1d_ring", "fabric_2d", "fabric_2d_torus_x", "fabric_2d_torus_y",
     "fabric_2d_torus_xy", "custom"),
    without_effect="devices of one process exchange by copies",
)  # fmt: skip
_KERNELS = (
    _switch("--dump-kernels", "write the kernels", without_effect=_NO_KERNELS),
    _switch("--load-kernels", "read the kernels that --dump-kernels wrote", without_effect=_NO_KERNELS),
)


def _results(command: str) -> Option:
    return Option("--result-file", str, f"{command}_results.json", "the file of results")


_RUN = (
    _BINARY, _CLEAN, _SAVE, _LOG, _FOLDER, _results("run"), _PROGRAM, _LOOPS, _NUMERICS,
    Option("--init", str, "randn", "how inputs are made; where it is given, no stored golden applies", INITIALIZERS),
    Option("--seed", int, 0, "the seed of the inputs; equal seeds give equal inputs"),
    Option(
        "--ones-density", int, 1, "of --init ones: one element in so many is 1, the others are 0", check=_at_least(1),
    ),
    _switch("--identity", "the outputs must equal the inputs, by --rtol and --atol"),
    _switch("--non-zero", "no output may be all zero"),
    Option("--pcc", float, 0.99, "the least correlation of a result with its golden"),
    Option("--rtol", float, 1e-05, "relative tolerance of goldens and of --identity"),
    Option("--atol", float, 1e-08, "absolute tolerance of goldens and of --identity"),
    Option("--rtol-allclose", float, 5e-02, "relative tolerance of the outputs of a .ttm"),
    Option("--atol-allclose", float, 1e-03, "absolute tolerance of the outputs of a .ttm"),
    Option("--golden-diff-topk", int, 10, "how many of the largest differences are printed", check=_at_least(0)),
    _ENABLE_GOLDEN, _DISABLE_GOLDEN,
    _switch("--save-golden-tensors", "save the goldens and the tensors that were compared with them"),
    _PRINT,
    _switch("--debugger", "start pdb after every operation"),
    _MEMORY,
    _switch("--check-memory-leak", "more memory behind the last operation than behind the first is an error"),
    Option("--memory-log-level", str, "none", "log the memory: at programs, operations or both", MEMORY_LOG_LEVELS),
    _BENCHMARK, _NO_CALLBACKS, _IGNORE_VERSION,
    Option(
        "--dirty-tensor-schedule", str, "", "`index:loop,...`: inputs that count as changed before a loop",
        without_effect="nothing is kept of an input between two loops", check=_require_schedule,
    ),
    *_KERNELS,
    _switch("--load-kernels-from-disk", "the older name of --load-kernels", without_effect=_NO_KERNELS),
    _switch("--use-loc-for-kernel-name", "name written kernels by locations", without_effect=_NO_KERNELS),
    Option("--kernel-source-dir", str, "", "where kernels are written and read", without_effect=_NO_KERNELS),
    _switch("--disable-device-address-validation", "accept any address", without_effect="tensors are in host memory"),
    _switch("--blocking-cq", "wait for every operation", without_effect="operations run one after the other"),
    _switch("--disable-swap-binary-operands", "apply no such workaround", without_effect=_NO_WORKAROUND),
    _switch("--disable-read-update-index-for-kv-cache", "apply no such workaround", without_effect=_NO_WORKAROUND),
    _switch("--disable-blackhole-workarounds", "apply no such workaround", without_effect=_NO_WORKAROUND),
    _ETH_DISPATCH, _PROGRAM_CACHE, _TRACE_REGION, _DEVICE_RATE, _FABRIC,
    _switch(
        "--enable-perf-trace", "trace by a device's profiler",
        refusal="only a device has a profiler; `ttrt perf` measures every operation on this processor",
    ),
)  # fmt: skip

_PERF = (
    _BINARY, _CLEAN, _SAVE, _LOG, _FOLDER, _results("perf"), _PROGRAM, _LOOPS, _NUMERICS,
    _switch("--host-only", "measure on the host alone", without_effect="the host is all there is"),
    Option(
        "--filter", str, "",
        f"operations to leave out of one more file: {', '.join(PERF_FILTERS)}, separated by commas",
        check=perf_filters,
    ),
    _ENABLE_GOLDEN, _DISABLE_GOLDEN, _MEMORY, _BENCHMARK, _NO_CALLBACKS, _IGNORE_VERSION,
    *_KERNELS,
    _ETH_DISPATCH, _PROGRAM_CACHE, _TRACE_REGION, _DEVICE_RATE, _FABRIC,
    Option(
        "--port", int, 0, "the port of tracy's server",
        refusal="there is no tracy here; times are in ops_perf_results.csv",
    ),
    _switch(
        "--emitc", "measure C++ programs",
        refusal="C++ programs are linked with tt-metal; `ttrt emitpy` runs the Python of the same module",
    ),
)  # fmt: skip

_EMIT = (
    _CLEAN, _SAVE, _LOG, _FOLDER, _PROGRAM, _LOOPS,
    Option("--flatbuffer", str, "", "the binary, or a folder of binaries by the same names, whose outputs must agree"),
    _DISABLE_GOLDEN, _MEMORY, _PRINT, _BENCHMARK, _NO_CALLBACKS, _IGNORE_VERSION,
    _ETH_DISPATCH, _PROGRAM_CACHE, _DEVICE_RATE,
)  # fmt: skip

COMMANDS = {
    each.name: each
    for each in (
        CommandDeclaration(
            "query",
            "Query",
            "print the description of this system",
            (
                _CLEAN, _SAVE, _LOG, _FOLDER, _results("query"),
                _switch("--quiet", "do not print the description"),
                Option(
                    "--target", str, "", "describe this preset, or the system of this file, instead",
                    check=_require_system,
                ),
                _ETH_DISPATCH,
            ),
        ),
        CommandDeclaration(
            "read",
            "Read",
            "print sections of binaries and of system descriptions",
            (
                Option("binary", str, "", "a file (.ttnn, .ttm, .ttsys), or a folder with such files"),
                Option("--section", str, "all", "the section to print", SECTIONS),
                _CLEAN, _SAVE, _LOG, _FOLDER, _results("read"),
                Option("--read-file", str, "read_sections.json", "the file of the sections, as JSON"),
                _IGNORE_VERSION,
            ),
        ),
        CommandDeclaration("run", "Run", "run binaries", _RUN),
        CommandDeclaration("perf", "Perf", "measure every operation of binaries", _PERF),
        CommandDeclaration(
            "check",
            "Check",
            "compare the systems for which binaries were compiled with this one",
            (
                _BINARY,
                Option("--system-desc", str, "", "the description of another system (.ttsys, .json), or a folder"),
                _CLEAN, _SAVE, _LOG, _FOLDER, _results("check"),
            ),
        ),
        CommandDeclaration(
            "emitpy",
            "EmitPy",
            "run Python programs that a compiler wrote",
            (Option("dylib", str, "", "a Python file, or a folder with such files"), _results("emitpy"), *_EMIT),
        ),
        CommandDeclaration(
            "emitc",
            "EmitC",
            "run shared libraries that a compiler wrote",
            (Option("dylib", str, "", "a shared library, or a folder with such files"), _results("emitc"), *_EMIT),
            refusal="such libraries are linked with tt-metal's, which drive a chip; "
            "`ttrt emitpy` runs the Python of the same module, and `ttrt run` its binary",
        ),
    )
}  # fmt: skip
"""Every command by its name."""
