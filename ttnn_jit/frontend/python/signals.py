"""How control leaves a block of the program that is being interpreted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ttnn_jit.frontend.python.interpreter import FunctionReturn


class LoopBreak:
    """Control leaves the innermost loop."""


class LoopContinue:
    """Control goes to the next iteration of the innermost loop."""


Signal: TypeAlias = FunctionReturn | LoopBreak | LoopContinue | None
"""How control leaves a block; None: at its end."""

Execute: TypeAlias = Callable[[Sequence[ast.stmt]], Signal]
"""Executes a block."""
