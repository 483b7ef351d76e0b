"""The log of runs, for ``debug=True`` and for `ttnn_jit.specs.options.requested_log_level`.

The logger ``ttnn_jit.run`` logs each loaded program at INFO, each kernel launch at DEBUG and each operation of a run at
TRACE. Without a log, runs cost nothing extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from ttnn_jit.runtime.plans.launches import Launch, runs_of
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.specs.options import TRACE, requested_log_level
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import logging

    from ttnn_jit.runtime.libraries.runnable import Runnable

DEBUG = 10  # logging.DEBUG, without the import


def run_lines(plan: ProgramPlan) -> Iterator[str]:
    """A line for each launch of a run: the program, the kernel and its operands."""
    if not plan.launches:
        yield f"{plan.name} launches nothing"
    for number, (launch, _) in enumerate(runs_of(plan.launches)):
        yield f"{plan.name}[{number}] {launch.kernel} {', '.join(_operands(plan, launch))}"


def _operands(plan: ProgramPlan, launch: Launch) -> Iterator[str]:
    kinds = [("arg", plan.inputs), ("out", plan.outputs), ("tmp", plan.intermediates), ("const", plan.constants)]
    names = [f"{kind}{number}" for kind, each in kinds for number in range(len(each))]
    for index in launch.operands:
        yield f"{names[index]}: {_short(plan.operands[index])}"


def _short(spec: TensorSpec) -> str:
    return "x".join([*map(str, spec.shape), spec.dtype.mlir])


def run_recorder(program: Runnable) -> Callable[[], None] | None:
    """The function that logs a run of `program`; None if runs are not logged."""
    logger = _logger()
    if logger is None or not logger.isEnabledFor(DEBUG):
        return None
    return partial(_record_run, logger, program)


def record_load(program: Runnable) -> None:
    """Log that the kernels of `program` were loaded."""
    logger = _logger()
    if logger is not None:
        kernels = ", ".join(program.plan.kernels) or "no kernel"
        logger.info("loaded %s: %s", program.name, kernels)


def _record_run(logger: logging.Logger, program: Runnable) -> None:
    for line in run_lines(program.plan):
        logger.debug(line)
    for number, name in enumerate(named_ops(program.notes.get("ops", ""))):
        logger.log(TRACE, "%s op %d: %s", program.name, number, name)


def ops_text(names: Iterable[str]) -> str:
    """The distinct names of a program's operations, and their order; compact, because disk hits read and hash it."""
    numbers: dict[str, int] = {}
    order = [numbers.setdefault(name, len(numbers)) for name in names]
    return " ".join([*numbers, ";", *map(str, order)])


def named_ops(text: str) -> list[str]:
    """The inverse of `ops_text`."""
    names, _, order = text.partition(";")
    known = names.split()
    return [known[int(number)] for number in order.split()]


@cache
def _logger() -> logging.Logger | None:
    """The logger at the level that the environment requests; None if it requests none."""
    level = requested_log_level()
    if level is None:
        return None
    import logging

    logging.addLevelName(TRACE, "TRACE")
    logger = logging.getLogger("ttnn_jit.run")
    logger.setLevel(level)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)-5s | %(name)s | %(message)s"))
        logger.addHandler(handler)
    return logger
