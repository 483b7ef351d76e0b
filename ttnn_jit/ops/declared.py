"""Every operation that programs have; read when one is compiled, and not before."""

from __future__ import annotations

from ttnn_jit.ops import CALLABLE, IN_PROGRAMS, OPERATIONS, declared_in

DECLARED = (*OPERATIONS, *declared_in(IN_PROGRAMS), *declared_in(CALLABLE, "IN_PROGRAMS"))
"""Those that may be called, and those that functions of the host API stand for (ops/host_ops.py)."""
