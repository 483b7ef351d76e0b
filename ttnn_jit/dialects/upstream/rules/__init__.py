"""What C++ verifies of operations beyond ODS, by families; the messages are tt-mlir's.

`RULES` has the rules of each operation in order. A rule raises `VerifyException` with what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

Rule = Callable[[Operation], None]

RULES: dict[str, tuple[Rule, ...]] = {}
"""Name of an operation -> its rules."""
