"""What the decorator was told beside the function."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import SystemDesc


@dataclass(frozen=True)
class Settings:
    """The flags of ``@jit``; `ttnn_jit.jit` says what each means.

    Attributes:
        options: Those that the compiler reads.
        target: The rules for torch and numpy arguments; None: those of the ``cpu`` target.
        enable_cache: Keep programs on disk.
        debug: Print the IR after every stage, and what runs.
        compile_only: Return programs instead of running them.
    """

    options: CompileOptions
    target: SystemDesc | None
    enable_cache: bool
    debug: bool
    compile_only: bool
