"""Runs compiled modules, and compares what they give with goldens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ttnn_jit.golden.verdict import Verdict
from ttnn_jit.module_builders.base.builder_errors import (
    TTBuilderCompileException,
    TTBuilderGoldenException,
    TTBuilderRuntimeException,
)
from ttnn_jit.module_builders.base.intermediate_verification import IntermediateVerification
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.judged_outputs import chain_verdict, verdict_on
from ttnn_jit.process.complete_file import complete_file, write_complete
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary
from ttnn_jit.ttmlir.ttmlir_runtime.submission import outputs_of

Report = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """What a comparison must keep besides its verdict.

    Attributes:
        pcc: The least correlation; of several operations also the bound of the verdict.
        atol: The largest difference.
        rtol: The largest difference relative to the golden.
        check_pcc: Whether results are judged at all.
        check_atol: Whether `atol` must be kept.
        check_rtol: Whether `rtol` must be kept.
    """

    pcc: float = 0.99
    atol: float = 1e-08
    rtol: float = 1e-05
    check_pcc: bool = True
    check_atol: bool = False
    check_rtol: bool = False


def check_outputs(  # noqa: PLR0913, PLR0917 - upstream's arguments
    golden_tensor: torch.Tensor,
    output_tensor: torch.Tensor,
    tensor_name: str,
    pcc: float,
    atol: float,
    rtol: float,
    check_pcc: bool,
    check_atol: bool,
    check_rtol: bool,
    raise_exception: bool = True,
) -> Report:
    """The comparison of a result with its golden, which several operations computed.

    Raises:
        TTBuilderGoldenException: It is not right, and `raise_exception` is set.
    """
    limits = Limits(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    verdict = chain_verdict(golden_tensor, output_tensor, pcc)
    return _reported(verdict, golden_tensor, output_tensor, tensor_name, limits, raises=raise_exception)


def _reported(
    verdict: Verdict, golden: torch.Tensor, got: torch.Tensor, name: str, limits: Limits, *, raises: bool = True
) -> Report:
    exact, result = golden.double(), got.double()
    distance = (exact - result).abs()
    atol = float(distance.nan_to_num(0.0).max()) if distance.numel() else 0.0
    relative = (distance / exact.abs().clamp(min=1e-300)).masked_fill(distance == 0, 0.0)
    rtol = float(relative.nan_to_num(0.0).max()) if distance.numel() else 0.0
    reasons = [verdict.reason] if limits.check_pcc and not verdict.matches else []
    reasons += (
        [f"it is off by {atol:.6g}, and atol is {limits.atol:.6g}"] if limits.check_atol > (atol <= limits.atol) else []
    )
    reasons += (
        [f"it is off by {rtol:.6g} of the golden, and rtol is {limits.rtol:.6g}"]
        if limits.check_rtol > (rtol <= limits.rtol)
        else []
    )
    if reasons and raises:
        raise TTBuilderGoldenException(f"{name} is not its golden (pcc {verdict.pcc:.6f}): {'; '.join(reasons)}")
    return {
        "result": "fail" if reasons else "pass",
        "reason": "; ".join(reasons),
        "expected_pcc": limits.pcc,
        "actual_pcc": verdict.pcc,
        "expected_atol": limits.atol,
        "actual_atol": atol,
        "expected_rtol": limits.rtol,
        "actual_rtol": rtol,
        "max_ulp": verdict.max_ulp,
        "allclose": torch.allclose(exact, result, rtol=limits.rtol, atol=limits.atol, equal_nan=True),
        "max": atol,
        "mean_absolute_error": float(distance.nan_to_num(0.0).mean()) if distance.numel() else 0.0,
        "root_mean_square_error": float(distance.nan_to_num(0.0).square().mean().sqrt()) if distance.numel() else 0.0,
        "cosine_similarity": float(torch.nn.functional.cosine_similarity(exact.flatten(), result.flatten(), 0))
        if distance.numel()
        else 1.0,
    }


def execute_fb(  # noqa: PLR0913, PLR0917 - upstream's arguments
    compiled_bin: Binary,
    input_output_goldens: Mapping[int, Mapping[str, GoldenMapTensor]] | None = None,
    intermediate_goldens: Mapping[str, GoldenMapTensor] | None = None,
    pcc: float = 0.99,
    atol: float = 1e-08,
    rtol: float = 1e-05,
    disable_golden: bool = False,
    device: Any = None,  # noqa: ARG001 - the module says the mesh
    check_pcc: bool = True,
    check_atol: bool = False,
    check_rtol: bool = False,
    enable_intermediate_verification: bool = False,
    bypass_ops: Sequence[str] | None = None,
    save_artifacts: bool = False,
    artifact_dir: str = ".",
    dump_memory: bool = False,
) -> tuple[dict[str, Report], dict[str, Report]]:
    """Runs every program of a binary, and compares the outputs with goldens.

    Args:
        compiled_bin: The binary.
        input_output_goldens: The goldens of inputs and outputs by program; without them inputs are random.
        intermediate_goldens: The goldens of operations by location.
        pcc: The least correlation of what several operations computed.
        atol: The largest difference, if `check_atol` is set.
        rtol: The largest relative difference, if `check_rtol` is set.
        disable_golden: Compare nothing.
        device: Of no effect.
        check_pcc: Whether results are judged.
        check_atol: Whether `atol` is checked.
        check_rtol: Whether `rtol` is checked.
        enable_intermediate_verification: Compare every operation that has a golden.
        bypass_ops: Locations of operations whose results are replaced by their goldens.
        save_artifacts: Whether to write tensors and the report.
        artifact_dir: Where to.
        dump_memory: Whether to write the bytes of every result.

    Returns:
        The report of each program, and its outputs with their goldens.

    Raises:
        TTBuilderGoldenException: A result is not its golden.
        TTBuilderRuntimeException: A program did not run.
    """
    limits = Limits(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    verification = None
    if enable_intermediate_verification or bypass_ops or dump_memory:
        verification = IntermediateVerification(
            intermediate_goldens or {}, [*(bypass_ops or ())], pcc, compares=enable_intermediate_verification
        )
    reports: dict[str, Report] = {}
    tensors: dict[str, Report] = {}
    public = (each for each in range(compiled_bin.get_num_programs()) if not compiled_bin.is_program_private(each))
    for number, index in enumerate(public):
        outputs = _outputs(compiled_bin, index, (input_output_goldens or {}).get(number), verification)
        own = {} if disable_golden or input_output_goldens is None else input_output_goldens[number]
        report, kept = compared_outputs(outputs, own, limits)
        memory = None
        if verification is not None:
            report |= verification.report
            memory = verification.memory if dump_memory else None
        folder = artifact_dir if save_artifacts or dump_memory else None
        write_artifacts(folder, index, report, kept if save_artifacts else {}, memory)
        raise_for(report)
        reports[f"program_{index}"], tensors[f"program_{index}"] = report, kept
    return reports, tensors


def _outputs(
    binary: Binary,
    index: int,
    goldens: Mapping[str, GoldenMapTensor] | None,
    verification: IntermediateVerification | None,
) -> Sequence[Sequence[torch.Tensor]]:
    """The outputs of a program on the goldens of its inputs, or on random tensors.

    Raises:
        TTBuilderRuntimeException: The program did not run.
    """
    inputs = _inputs(binary, index, goldens)
    try:
        return (
            outputs_of(binary, index, inputs) if verification is None else verification.outputs(binary, index, inputs)
        )
    except Exception as error:
        raise TTBuilderRuntimeException(error) from error


def raise_for(report: Report) -> None:
    """Raises for the first result that is not its golden."""
    for name, devices in report.items():
        for device, each in devices.items():
            if each["result"] == "fail":
                where = f" on device {device}" if len(devices) > 1 else ""
                raise TTBuilderGoldenException(
                    f"{name}{where} is not its golden (pcc {each['actual_pcc']:.6f}): {each['reason']}"
                )


def compared_outputs(
    outputs: Sequence[Sequence[torch.Tensor]],
    goldens: Mapping[str, GoldenMapTensor],
    limits: Limits,
    *,
    as_ttnn: bool = False,
) -> tuple[Report, Report]:
    """The comparison of each output on each device, and the tensors."""
    report: Report = {}
    kept: Report = {}
    for index, parts in enumerate(outputs):
        name = f"output_{index}"
        kept[f"device_{name}"] = dict(enumerate(parts))
        golden = goldens.get(name)
        if golden is None:
            continue
        kept[f"golden_{name}"] = {device: golden.shard_at(device) for device, _ in enumerate(parts)}
        if golden.source is not None and golden.source.is_random:
            continue
        report[name] = {}
        for device, got in enumerate(parts):
            verdict = verdict_on(golden, device, got, limits.pcc, as_ttnn=as_ttnn)
            plain = golden.golden_map_tensor_as_torch_tensors()
            part = plain[device if len(plain) > 1 else 0]
            if part.shape != got.shape:
                raise TTBuilderGoldenException(f"{name}: {verdict.reason}")
            report[name][device] = _reported(verdict, part, got, name, limits, raises=False)
    return report, kept


def _inputs(binary: Binary, index: int, goldens: Mapping[str, GoldenMapTensor] | None) -> list[list[torch.Tensor]]:
    """The parts of each input, in the dtypes of the program."""
    program = binary.text_module.program(binary.names[index])
    given = []
    for number, spec in enumerate(program.arguments):
        golden = (goldens or {}).get(f"input_{number}")
        if golden is None:
            golden = GoldenMapTensor({0: _random(tuple(spec.shape), spec.dtype.torch)}, (1, 1))
        parts = golden.golden_map_tensor_as_torch_tensors()
        given.append([parts[key].to(spec.dtype.torch).reshape(tuple(spec.shape)) for key in sorted(parts)])
    return given


def _random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.randn(shape).to(dtype)
    return torch.randint(0, 2 if dtype is torch.bool else 100, shape).to(dtype)


def write_artifacts(
    folder: str | None, index: int, report: Report, tensors: Report, memory: Mapping[str, int] | None = None
) -> None:
    """Writes tensors, the report of a program, and the bytes of its results; nothing if there is no folder."""
    if folder is None:
        return
    where = Path(folder) / f"program_{index}"
    where.mkdir(parents=True, exist_ok=True)
    for name, parts in tensors.items():
        for device, each in parts.items():
            with complete_file(where / f"{name}_device_{device}.pt") as file:
                torch.save(each, file)
    write_complete(where / "golden_report.json", [json.dumps(report, indent=4).encode()])
    if memory is not None:
        write_complete(where / "memory_report.json", [json.dumps(memory, indent=4).encode()])


__all__ = [
    "TTBuilderCompileException",
    "TTBuilderGoldenException",
    "TTBuilderRuntimeException",
    "check_outputs",
    "execute_fb",
]
