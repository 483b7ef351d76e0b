"""The functions of `chisel`: from `bind` to `unbind` every submitted program is compared op by op."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ttnn_jit.golden.comparison_recorder import RECORDERS
from ttnn_jit.ttmlir.chisel.chisel_context import UNSET, ChiselContext, ChiselOpConfig
from ttnn_jit.ttmlir.chisel.chisel_records import ChiselReport

_BOUND: list[ChiselContext] = []


def _bound() -> ChiselContext:
    if not _BOUND:
        raise RuntimeError("ChiselContext is not bound. Call chisel.bind() first.")
    return _BOUND[0]


def bind() -> None:
    """Compare programs from now on, of all threads.

    Raises:
        RuntimeError: It is bound already.
    """
    if _BOUND:
        raise RuntimeError("chisel.bind() called twice without unbind()")
    context = ChiselContext()
    _BOUND.append(context)
    RECORDERS.append(context.recorder)


def unbind() -> None:
    """Stop comparing."""
    while _BOUND:
        RECORDERS.remove(_BOUND.pop().recorder)


def configure(
    *,
    results_path: Any = UNSET,
    report_capacity: Any = UNSET,
    debug_chisel_dir: Any = UNSET,
    checks_config: Any = UNSET,
) -> None:
    """Change the settings that are given.

    Args:
        results_path: A file that records are appended to as lines of JSON; None: none.
        report_capacity: How many records the report keeps.
        debug_chisel_dir: A folder for the module and the binary of the first failure of each binary; None: none.
        checks_config: What is checked.

    Raises:
        RuntimeError: It is not bound.
    """
    _bound().configure(
        results_path=results_path,
        report_capacity=report_capacity,
        debug_chisel_dir=debug_chisel_dir,
        checks_config=checks_config,
    )


def get_report() -> ChiselReport:
    """The report.

    Raises:
        RuntimeError: It is not bound.
    """
    return _bound().report


def register_op_config(op_type: type, config: ChiselOpConfig) -> None:
    """Treat an op in another way.

    Args:
        op_type: Its class, such as ``ttmlir.dialects.ttnn.EmptyOp``.
        config: How it is treated.

    Raises:
        RuntimeError: It is not bound.
    """
    _bound().register_op_config(op_type, config)


@contextmanager
def session(
    *,
    results_path: Any = UNSET,
    report_capacity: Any = UNSET,
    debug_chisel_dir: Any = UNSET,
    checks_config: Any = UNSET,
) -> Iterator[ChiselReport]:
    """A block whose programs are compared; its value is the report. The settings are those of `configure`."""
    bind()
    try:
        configure(
            results_path=results_path,
            report_capacity=report_capacity,
            debug_chisel_dir=debug_chisel_dir,
            checks_config=checks_config,
        )
        yield get_report()
    finally:
        unbind()
