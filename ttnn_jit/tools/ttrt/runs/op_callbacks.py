"""What is called around each operation: goldens, memory, the debugger."""

from __future__ import annotations

import json
import math
import pdb
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_jit.compiler.texts.text_steps import Step
from ttnn_jit.dialects.text_calls.op_calls import read_op
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.sessions.text_goldens import JudgedOp, distinct_devices, shape_mismatch
from ttnn_jit.specs.target import Numerics
from ttnn_jit.tools.ttrt.artifact_folders import sanitized_name
from ttnn_jit.tools.ttrt.result_files import WrongResultError, in_json
from ttnn_jit.tools.ttrt.runs.golden_comparison import COMPUTED, compared, golden_to_torch, why_wrong
from ttnn_jit.tools.ttrt.runs.op_statistics import computes
from ttnn_jit.ttmlir.ttmlir_runtime.chip_memory import MEMORIES
from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import get_op_debug_str, get_op_loc_info, get_op_output_tensor

if TYPE_CHECKING:
    import logging as logs

    import torch

    from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import CallbackContext, OpContext

Report = dict[str, dict[str, dict[str, Any]]]
"""Entries by location and device."""


class CallbackRuntimeConfig:
    """What callbacks do, and what they found since the last program began.

    Args:
        device: The device.
        artifact_dir: Where tensors are saved.
        pcc: The least correlation.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        save_golden_tensors: Whether goldens and results are saved.
        logging: The log.
        enable_golden: Compare results with the goldens that the binary holds.
        enable_memory: Report the memory behind every operation.
        enable_debugger: Start pdb behind every operation.
        golden_report: The entries of goldens so far.
        memory_report: The entries of memory so far.
        compute_goldens: Compare operations for which the binary holds none with goldens that are computed.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - upstream's parameters
        self,
        device: Any = None,
        artifact_dir: str = "",
        pcc: float = 0.99,
        atol: float = 1e-08,
        rtol: float = 1e-05,
        save_golden_tensors: bool = False,
        logging: logs.Logger | None = None,
        enable_golden: bool = False,
        enable_memory: bool = False,
        enable_debugger: bool = False,
        golden_report: Report | None = None,
        memory_report: dict[int, dict[str, Any]] | None = None,
        *,
        compute_goldens: bool = False,
    ) -> None:
        self.device, self.artifact_dir = device, artifact_dir
        self.pcc, self.atol, self.rtol = pcc, atol, rtol
        self.save_golden_tensors, self.logging = save_golden_tensors, logging
        self.enable_golden, self.enable_memory, self.enable_debugger = enable_golden, enable_memory, enable_debugger
        self.compute_goldens = compute_goldens
        self.golden_report: Report = golden_report or {}
        self.memory_report: dict[int, dict[str, Any]] = memory_report or {}
        self.operands: Mapping[Any, Any] = {}

    def start_new_callback(self, artifact_dir: str) -> None:
        """Forgets what was found of an earlier program."""
        self.artifact_dir = artifact_dir
        self.golden_report, self.memory_report = {}, {}

    @property
    def is_needed(self) -> bool:
        """Whether anything is done around operations."""
        return self.enable_golden or self.compute_goldens or self.enable_memory or self.enable_debugger

    def save_golden_report(self, golden_report_path: str) -> None:
        """Writes the entries of goldens; locations that repeat are numbered."""
        _save(golden_report_path, self.golden_report)

    def save_memory_report(self, memory_report_path: str) -> None:
        """Writes the entries of memory."""
        _save(memory_report_path, self.memory_report)

    def check_pcc(self) -> None:
        """Looks at the entries of goldens.

        Raises:
            WrongResultError: One is not right; the first is named.
        """
        for location, by_device in self.golden_report.items():
            for device, entry in by_device.items():
                if not entry["matches"]:
                    raise WrongResultError(
                        f"golden comparison failed at {location} for device={device}: {why_wrong(entry)}"
                    )

    def check_memory_leak(self) -> None:
        """Looks at the first and the last entry of memory.

        Raises:
            WrongResultError: The last has more bytes in DRAM or L1.
        """
        if not self.memory_report:
            return
        first, last = self.memory_report[0], self.memory_report[len(self.memory_report) - 1]
        for memory in ("dram", "l1"):
            before, after = (each[memory]["total_bytes_allocated_per_bank"] for each in (first, last))
            if after > before:
                raise WrongResultError(
                    f"memory leak in {memory}: {before:,} bytes of every bank behind the first operation, and "
                    f"{after:,} behind the last"
                )


def _save(path: str, report: Mapping[Any, Any]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_complete(Path(path), [json.dumps(in_json(report), indent=4).encode()])


_END = re.compile(r'"?\)$')


def unique_key(location: str, report: Mapping[str, Any]) -> str:
    """A location as a key of a report: the second and later ones of a line end in ``:id(n)``."""
    if location not in report:
        return location
    number = 1
    while (key := _END.sub(lambda end: f":id({number}){end[0]}", location, count=1)) in report:  # noqa: B023
        number += 1
    return key


def golden(config: CallbackRuntimeConfig, binary: Any, program_context: CallbackContext, op_context: OpContext) -> None:
    """Compares the result of an operation with its golden, on every device."""
    location = get_op_loc_info(op_context)
    stored = binary.get_debug_info_golden(location) if config.enable_golden else {}
    entries: dict[str, dict[str, Any]] = {}
    outputs = get_op_output_tensor(op_context, program_context) if stored else {}
    for device, tensor in stored.items():
        if device in outputs:
            entries[str(device)] = _compared(config, location, device, golden_to_torch(tensor), outputs[device].first)
    if not entries and config.compute_goldens:
        entries = _computed(config, program_context, op_context)
    if entries:
        config.golden_report[unique_key(location, config.golden_report)] = entries


def _compared(config: CallbackRuntimeConfig, location: str, device: int, right: Any, got: Any) -> dict[str, Any]:
    import torch

    if config.save_golden_tensors:
        folder = Path(config.artifact_dir)
        folder.mkdir(parents=True, exist_ok=True)
        for kind, tensor in (("golden", right), ("device", got)):
            torch.save(tensor, folder / sanitized_name(f"{location}_{device}_{kind}.pt"))
    if right.shape != got.shape:
        reason = f"the result has the shape {list(got.shape)}, and its golden {list(right.shape)}"
        return _unlike(config, reason)
    return compared(right, got, config.pcc, config.atol, config.rtol)


def _unlike(config: CallbackRuntimeConfig, reason: str) -> dict[str, Any]:
    names = ("max", "mean_absolute_error", "root_mean_square_error", "cosine_similarity", "max_ulp")
    limits = {"expected_pcc": config.pcc, "actual_pcc": 0.0, "atol": config.atol, "rtol": config.rtol}
    unknown = dict.fromkeys(names)
    return {**limits, "allclose": False, **unknown, "differing_nans": 0, "matches": False, "reason": reason}


def _computed(
    config: CallbackRuntimeConfig, context: CallbackContext, op_context: OpContext
) -> dict[str, dict[str, Any]]:
    """The entries by device: a golden of the operation on the operands that it read; empty if results are drawn.

    None is there of an operation that computes nothing, such as a deallocation. A second result of device 0 is "0.1".
    """
    if not computes(op_context.op):
        return {}
    read, module = read_op(op_context.op), context.binary.text_module
    results = {each: context.run.values[each] for each in read.written(op_context.op)}
    step = Step(op_context.op, read, config.operands, results)
    on_chip = module.target.numerics is Numerics.DEVICE
    if step.is_exchange:
        judged = JudgedOp(read, config.operands, on_chip, module.mesh)
        got = [each for tensors in results.values() for each in tensors]
        entries = _judged(config, judged, got)
        return {_key(*divmod(at, math.prod(module.mesh))): each for at, each in enumerate(entries)}
    if read.operation.is_random:
        return {}
    return {
        _key(index, device): entry
        for device, given, got in distinct_devices(step, math.prod(module.mesh))
        for index, entry in enumerate(_judged(config, JudgedOp(read, given, on_chip), got))
    }


def _key(index: int, device: int) -> str:
    """Of the results of a device the first has its number alone."""
    return f"{device}.{index}" if index else str(device)


def _judged(config: CallbackRuntimeConfig, judged: JudgedOp, got: Sequence[torch.Tensor]) -> list[dict[str, Any]]:
    goldens = judged.goldens()
    if reason := shape_mismatch(got, goldens):
        return [_unlike(config, reason)]
    return [
        compared(golden, own, config.pcc, config.atol, config.rtol)
        | {
            "golden": COMPUTED,
            "max_ulp": outcome.verdict.max_ulp,
            "differing_nans": outcome.verdict.differing_nans,
            "matches": outcome.verdict.matches,
            "reason": outcome.verdict.reason,
        }
        for own, golden, outcome in zip(got, goldens, judged.outcomes(got, goldens), strict=True)
    ]


def memory(config: CallbackRuntimeConfig, _: Any, program_context: CallbackContext, op_context: OpContext) -> None:
    """Reports the memory behind an operation."""
    view = program_context.memory.behind(op_context.op).view()
    config.memory_report[len(config.memory_report)] = {
        "loc": get_op_loc_info(op_context),
        "debug_str": get_op_debug_str(op_context),
        **{name: view[name] for name in MEMORIES},
    }


def debugger(
    config: CallbackRuntimeConfig, binary: Any, program_context: CallbackContext, op_context: OpContext
) -> None:
    """Starts pdb, in which `op_context`, `program_context`, `binary` and `outputs`, by device, are there."""
    outputs = get_op_output_tensor(op_context, program_context)
    if config.logging is not None:
        config.logging.debug("%s of %s is shown", len(outputs), binary)
        config.logging.info("behind %s", get_op_debug_str(op_context))
    pdb.set_trace()


def pre_op_callback(
    config: CallbackRuntimeConfig, _: Any, program_context: CallbackContext, op_context: OpContext
) -> None:
    """Keeps what an operation reads, if a golden is computed of it."""
    if config.compute_goldens:
        values = program_context.run.values
        config.operands = {each: values[each] for each in dict.fromkeys(op_context.operands) if each in values}


def post_op_callback(
    config: CallbackRuntimeConfig, binary: Any, program_context: CallbackContext, op_context: OpContext
) -> None:
    """Does what the configuration asks for."""
    if config.enable_golden or config.compute_goldens:
        golden(config, binary, program_context, op_context)
    if config.enable_memory:
        memory(config, binary, program_context, op_context)
    if config.enable_debugger:
        debugger(config, binary, program_context, op_context)


def pre_op_get_callback_fn(config: CallbackRuntimeConfig) -> Callable[..., None]:
    """What is called before each operation."""
    return partial(pre_op_callback, config)


def post_op_get_callback_fn(config: CallbackRuntimeConfig) -> Callable[..., None]:
    """What is called behind each operation."""
    return partial(post_op_callback, config)
