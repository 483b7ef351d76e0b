"""Every operation of programs; imported when a program is compiled, and not before."""

from __future__ import annotations

from ttnn_jit.ops import CALLABLE, IN_PROGRAMS, OPERATIONS, declared_in

DECLARED = (*OPERATIONS, *declared_in(IN_PROGRAMS), *declared_in(CALLABLE, "IN_PROGRAMS"))
"""The callable operations, and those that functions of the host API become in programs (ops/host_ops.py)."""
