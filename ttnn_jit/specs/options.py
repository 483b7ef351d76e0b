"""The decorator's options and the values of environment variables.

An option that changes the generated code is a field of `CompileOptions`, and so part of every cache key.
"""

from __future__ import annotations

import enum
import os
import warnings
from pathlib import Path

from ttnn_jit.diagnostics.debugging import debugging, switch
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.environment_variables import warn_of_unknown_variables
from ttnn_jit.specs.tensor_spec import MathFidelity, MemoryConfig

DUMP_FOLDER = Path("generated/jit")
"""Where `compile_only` and failing passes write, under the current folder."""


NUMBA = "numba"
BACKENDS = ("ttnn", NUMBA)
"""Code generators of scheduled programs: LLVM IR with vectors and own math functions; or Python loops with libm."""


USER_PASSES: dict[str, tuple[type, str]] = {}
"""Name of a user's pass in `extra_pipeline_options` -> its class, and the stage that it follows by default."""


class OutputLayout(enum.Enum):
    """The memory config of results of a jitted function, which ``TTNN_JIT_OUTPUT_LAYOUT`` chooses.

    FIRST_OPERAND: that of the first tensor operand (the ttnn.jit document). MAX_BLOCK_SHARDED: block sharded in L1 over
    the largest grid of whole tiles (later versions of ttnn.jit); without such a grid, as FIRST_OPERAND.
    """

    FIRST_OPERAND = "first-operand"
    MAX_BLOCK_SHARDED = "max-block-sharded"


@dataclass(frozen=True)
class CompileOptions:
    """The inputs of a compile besides the program, its arguments and the target.

    Attributes:
        graph_capture: True traces the function, False interprets its AST, None traces only if there is no source.
        math_fidelity: Printed on kernels (ttnn.jit document); the default of matrix products on chip targets.
        max_grid: Last core coordinate (x, y) of an interleaved tensor's grid; None means the target's whole grid.
        fuse: False leaves one kernel per op, for comparison.
        backend: One of `BACKENDS`.
        memory_config: The memory config of results, in the IR too; None means that of `output_layout`.
        output_layout: The memory config of results for which none is given.
        fp32_dest_acc: Values between the ops of a fused kernel stay float32 on chip targets too; see docs/numerics.md.
        extra_pipeline_options: Passes of the user's own, ``after-stage{pass,...}``; see transforms/pipeline.py.
    """

    graph_capture: bool | None = None
    math_fidelity: MathFidelity = MathFidelity.HiFi4
    max_grid: tuple[int, int] | None = None
    fuse: bool = True
    backend: str = "ttnn"
    memory_config: MemoryConfig | None = None
    output_layout: OutputLayout = OutputLayout.FIRST_OPERAND
    fp32_dest_acc: bool = False
    extra_pipeline_options: str = ""

    @property
    def opens_floats(self) -> bool:
        """Whether templates leave floats open: a traced function runs with plain floats."""
        return not self.graph_capture


@dataclass(frozen=True)
class Environment:
    """The values of environment variables; `read` reads them anew, so that tests and users can change them."""

    cache_enabled: bool
    cache_dir: Path | None
    reproducers: Path | None
    output_layout: OutputLayout

    @staticmethod
    def read() -> Environment:
        """The current values; `ttnn_jit.specs.environment_variables` has their meanings.

        It warns if there is no home folder for the cache, and of unknown variables with this package's prefix.

        Raises:
            ArgumentError: A variable has an invalid value.
        """
        warn_of_unknown_variables()
        cache_enabled = switch("TTNN_JIT_CACHE", default=True)
        return Environment(
            cache_enabled=cache_enabled,
            cache_dir=_cache_dir() if cache_enabled else None,
            output_layout=_output_layout(os.environ.get("TTNN_JIT_OUTPUT_LAYOUT")),
            reproducers=DUMP_FOLDER / "reproducer" if debugging() else None,
        )


def _cache_dir() -> Path | None:
    chosen = os.environ.get("TTNN_JIT_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification ignores relative paths.
    folder = chosen or f"{base if base.startswith('/') else '~/.cache'}/ttnn_jit"
    # A str, not a Path: every lookup on disk calls this.
    at_home = os.path.expanduser(folder) if folder.startswith("~") else folder  # noqa: PTH111
    if not at_home.startswith("~"):
        # diskcache expands variables in the path; the folder whose owner is checked must be the one that it uses.
        expanded = os.path.expandvars(at_home)
        return _path(expanded) if expanded.startswith("/") else Path(expanded).absolute()
    if chosen:
        raise ArgumentError(f"TTNN_JIT_CACHE_DIR is {chosen!r}, and there is no such home")
    warnings.warn(
        "programs are not kept on disk: this user has no home folder; set TTNN_JIT_CACHE_DIR or HOME",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


@memoized
def _path(absolute: str) -> Path:
    return Path(absolute)


def _output_layout(value: str | None) -> OutputLayout:
    if not value:
        return OutputLayout.FIRST_OPERAND
    known = {layout.value: layout for layout in OutputLayout}
    if value not in known:
        raise ArgumentError(
            f"TTNN_JIT_OUTPUT_LAYOUT is {value!r}", help=f"it takes {' or '.join(repr(name) for name in known)}"
        )
    return known[value]


@memoized
def requested_threads() -> int | None:
    """``TTNN_JIT_NUM_THREADS``: the threads that a kernel may use; None if it is not set.

    It is read once, before the first kernel with several threads: a warm call has no time to read the environment.

    Raises:
        ArgumentError: It is set to something else than a positive number.
    """
    text = os.environ.get("TTNN_JIT_NUM_THREADS")
    if not text:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentError(f"TTNN_JIT_NUM_THREADS is {text!r}", help="set it to a number of threads, 1 or more")
    return int(text)


def config_overrides() -> str:
    """``TTNN_CONFIG_OVERRIDES``: settings of `ttnn.CONFIG`, a JSON object; empty if it is not set."""
    return os.environ.get("TTNN_CONFIG_OVERRIDES", "")


TRACE = 5  # below logging.DEBUG
_LOG_LEVELS = {"TRACE": TRACE, "DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50, "FATAL": 50}


@memoized
def requested_log_level() -> int | None:
    """The log level of loading and running programs, as a level of `logging`; None for no log.

    ``TTMLIR_RUNTIME_LOGGER_LEVEL`` and ``TTRT_LOGGER_LEVEL`` (ttnn.jit document, FAQ) give it, in upper or lower case;
    the more verbose one applies. An unknown name gives a warning and INFO, which is ttrt's default. It is read once,
    when the first program is loaded.
    """
    named = {
        "TTMLIR_RUNTIME_LOGGER_LEVEL": os.environ.get("TTMLIR_RUNTIME_LOGGER_LEVEL"),
        "TTRT_LOGGER_LEVEL": os.environ.get("TTRT_LOGGER_LEVEL"),
    }
    return min((log_level(name, value) for name, value in named.items() if value), default=None)


def log_level(name: str, value: str) -> int:
    """The level of `logging` that a variable gives, in upper or lower case; INFO, with a warning, if it is unknown."""
    if value.upper() not in _LOG_LEVELS:
        known = ", ".join(_LOG_LEVELS)
        warnings.warn(f"{name} is {value!r}, which is no level: INFO is taken; it takes {known}", stacklevel=2)
    return _LOG_LEVELS.get(value.upper(), _LOG_LEVELS["INFO"])
