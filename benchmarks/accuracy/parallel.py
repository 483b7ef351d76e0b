"""Distributes the measurements over processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from multiprocessing import get_context
from typing import Any

import torch

from benchmarks.accuracy.measure import FLOAT32, Accuracy, measured
from ttnn_jit.ops import ELEMENTWISE, Operation
from ttnn_jit.specs.tensor_spec import DataType


def measured_cases(
    chosen: Sequence[tuple[Operation, DataType]], fraction: float, exhaustive: Sequence[str], processes: int
) -> Iterator[list[Accuracy]]:
    """The results of `measured` for every operation and dtype, in order.

    Args:
        chosen: The operations, each with a dtype.
        fraction: The fraction of the sample.
        exhaustive: Names of operations that are run on every float32.
        processes: The number of processes, of one thread each.
    """
    tasks = [(ELEMENTWISE.index(operation), dtype.name, fraction, tuple(exhaustive)) for operation, dtype in chosen]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        for task, rows in zip(tasks, pool.map(_measured, tasks), strict=True):
            yield [Accuracy(ELEMENTWISE[task[0]], *rest) for rest in rows]


def _one_thread() -> None:
    os.environ["TTNN_JIT_NUM_THREADS"] = "1"
    torch.set_num_threads(1)


def _measured(task: tuple[int, str, float, tuple[str, ...]]) -> list[tuple[Any, ...]]:
    """The fields of each row without the operation, which cannot be pickled."""
    number, dtype, fraction, exhaustive = task
    operation = ELEMENTWISE[number]
    every_one = operation.name in exhaustive and dtype == FLOAT32.name
    rows = measured(operation, DataType[dtype], fraction, step=1 if every_one else None)
    return [tuple(getattr(row, field.name) for field in fields(row)[1:]) for row in rows]
