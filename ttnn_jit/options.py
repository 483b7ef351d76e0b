"""The decorator's options and the environment variables, in one home.

An option that changes the generated code is a field of `CompileOptions` and so part of every cache key.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ttnn_jit.tensor_spec import MathFidelity

DUMP_FOLDER = Path("generated/jit")
"""Where `compile_only` and failing passes write, under the current folder."""


BACKENDS = ("ttnn", "numba")
"""What makes a scheduled program's native code: LLVM vectors and functions of our own; or Python loops and libm."""


@dataclass(frozen=True)
class CompileOptions:
    """What a compile depends on besides the program, its arguments and the target.

    Attributes:
        graph_capture: True traces the function, False interprets its AST, None interprets and traces only where
            there is no source to read.
        math_fidelity: Printed on kernels (ttnn.jit document).
        max_grid: Last core coordinate (x, y) of an interleaved tensor's grid; None means the target's whole grid.
        fuse: False leaves one kernel per op, to compare with.
        backend: One of `BACKENDS`.
        extra_pipeline_options: Passes of the user's own, ``after-stage{pass,...}``; see transforms/pipeline.py.
    """

    graph_capture: bool | None = None
    math_fidelity: MathFidelity = MathFidelity.HiFi4
    max_grid: tuple[int, int] | None = None
    fuse: bool = True
    backend: str = "ttnn"
    extra_pipeline_options: str = ""


@dataclass(frozen=True)
class Environment:
    """The environment variables that ttnn_jit reads, read when asked so that a test or a shell can change them."""

    cache_enabled: bool
    cache_dir: Path
    reproducers: Path | None

    @staticmethod
    def read() -> Environment:
        """``TTNN_JIT_CACHE=0`` turns the disk cache off; ``TTNN_JIT_CACHE_DIR`` moves it.

        ``TTNN_JIT_DEBUG=1`` has a failing pass leave its input and the command to repeat it in
        ``generated/jit/reproducer``.
        """
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return Environment(
            cache_enabled=os.environ.get("TTNN_JIT_CACHE", "1") != "0",
            cache_dir=Path(os.environ.get("TTNN_JIT_CACHE_DIR") or Path(base) / "ttnn_jit"),
            reproducers=DUMP_FOLDER / "reproducer" if os.environ.get("TTNN_JIT_DEBUG", "0") != "0" else None,
        )
