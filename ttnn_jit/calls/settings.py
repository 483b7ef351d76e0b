"""The arguments of the decorator."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import SystemDesc


@dataclass(frozen=True)
class Settings:
    """The arguments of ``@jit``; `ttnn_jit.jit` documents them.

    Attributes:
        options: The options of the compiler.
        target: The target of torch and numpy arguments; None: ``cpu``.
        enable_cache: Keep programs on disk.
        debug: Print the IR after every stage, and what runs.
        compile_only: Return programs instead of running them.
        dynamic: Whether programs serve many sizes: True from the first call on, None from the second size on.
    """

    options: CompileOptions
    target: SystemDesc | None
    enable_cache: bool
    debug: bool
    compile_only: bool
    dynamic: bool | None = None
