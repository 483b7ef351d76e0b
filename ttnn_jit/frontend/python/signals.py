"""How control leaves a block of the program that is being interpreted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ttnn_jit.frontend.python.interpreter import Returned


class LoopBreak:
    """The innermost loop is left."""


class LoopContinue:
    """The innermost loop goes to its next iteration."""


Signal: TypeAlias = Returned | LoopBreak | LoopContinue | None
"""How control leaves a block: None is by its end."""

Execute: TypeAlias = Callable[[Sequence[ast.stmt]], Signal]
"""Carries out a block."""
