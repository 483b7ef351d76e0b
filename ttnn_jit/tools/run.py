"""``ttnn-jit run``: executes a program, or a module after any stage, natively or in the tile interpreter."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.compiler import driver
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects import system_desc_of
from ttnn_jit.dialects.argument_notes import shared_blocks_of, whole_arguments_of
from ttnn_jit.dialects.functions import entry_point, single_function
from ttnn_jit.dialects.meshes import mesh_devices_of
from ttnn_jit.process.complete_file import complete_file
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.programs.torch_run import run_on_torch
from ttnn_jit.runtime.tensors.tensor import torch_copy
from ttnn_jit.runtime.tensors.tensors_from_host import from_torch
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import BufferType, TensorSpec
from ttnn_jit.tools.module_interpreting import (
    array_of_tensor,
    interpreted,
    specs_of_arguments,
    specs_of_function,
    tensor_of_array,
)
from ttnn_jit.tools.opt import module_of, read_text
from ttnn_jit.tools.stage_of_module import schedule
from ttnn_jit.tools.texts.inputs import inputs_of_file, names_of_arguments, require_memory
from ttnn_jit.tools.texts.recognition import is_of_kernels, is_of_other_compiler, is_of_tensors, module_of_dump

if TYPE_CHECKING:
    import torch


PROGRAM_SUFFIX = ".ttjp"


def main(options: argparse.Namespace) -> int:
    """Prints or saves the results; equal seeds give equal inputs."""
    if options.report and not options.golden:
        raise ArgumentError("--report writes what --golden compares", help="give both")
    if options.golden and options.interpret:
        raise ArgumentError("--golden compares native code, and --interpret runs none", help="give one of them")
    reader = _READERS.get(Path(options.file).suffix, _of_text)
    results = reader(options)
    if options.save:
        import torch

        with complete_file(options.save) as file:
            torch.save(results, file)
    else:
        for result in results:
            print(result)
    return 0


def _of_binary(options: argparse.Namespace) -> list[torch.Tensor]:
    """The results of a binary of tt-mlir."""
    if options.interpret or options.after:
        raise ArgumentError("--interpret and --after take a module of a stage, and a binary is one of ttnn")
    from ttnn_jit.tools.texts.run_text import results_of_binary

    return results_of_binary(options)


def _refuse_metal(options: argparse.Namespace) -> list[torch.Tensor]:
    raise ArgumentError(
        f"{options.file} is a binary of ttmetal, whose kernels are not executed here",
        help="a .ttnn binary of the same program is executed",
    )


def _of_program(options: argparse.Namespace) -> list[torch.Tensor]:
    """The results of a program that ``compile_only`` wrote; it is native code, to which no target or entry applies."""
    if options.entry is not None:
        raise ArgumentError("--entry takes a module; a program is compiled from one entry point", help="leave it out")
    if options.interpret:
        raise ArgumentError(
            "--interpret takes a module; a program holds native code", help="give it the .mlir beside it"
        )
    try:
        program = Program.load(options.file)
    except OSError as error:
        raise ArgumentError(f"{options.file} cannot be read: {error.strerror}") from error
    return _results(program, _inputs(options, program.plan.inputs), PRESETS["cpu"])


_READERS = {PROGRAM_SUFFIX: _of_program, ".ttnn": _of_binary, ".ttm": _refuse_metal}
"""Suffix of a file -> what gives its results; any other is a text."""


def _results(program: Program, inputs: Sequence[torch.Tensor], target: SystemDesc) -> list[torch.Tensor]:
    if all(spec.memory_config.buffer_type is BufferType.SYSTEM_MEMORY for spec in program.plan.inputs):
        return run_on_torch(program, inputs)
    return _on_device(program, inputs, target)


def _of_text(options: argparse.Namespace) -> list[torch.Tensor]:
    """The results of a text: a dump of a stage here, or a module of another compiler."""
    text, name = read_text(options.file)
    if made := _end_of_a_compile(text):
        raise ArgumentError(
            f"{name} is what the stage `{made}` prints, and no module", help="run the text of a stage before `host`"
        )
    if is_of_kernels(text):
        return _of_kernels(options, text, name)
    asks = is_of_tensors if options.golden or options.target or options.mesh else is_of_other_compiler
    if options.after and is_of_other_compiler(text, name):
        raise ArgumentError(f"--after takes a dump of a stage here, and {name} is a text of another compiler")
    if not options.after and asks(text, name):
        from ttnn_jit.tools.texts.run_text import results_of_text

        return results_of_text(options, text, name)
    module = module_of_dump(text, name)
    for option in ("golden", "target", "mesh"):
        if getattr(options, option):
            raise ArgumentError(f"--{option} takes a module of ttir or ttnn, and {name} is one of a later stage")
    return _of_module(options, module)


_BEGINNINGS = {driver.HOST: "launch ", driver.CODEGEN: "; ", driver.ASSEMBLY: "\t."}
"""Stages whose texts are no modules -> how these begin."""


def _end_of_a_compile(text: str) -> str:
    """The stage that prints such a text, which is no module; empty if none does."""
    return next((stage for stage, beginning in _BEGINNINGS.items() if text.startswith(beginning)), "")


def _of_kernels(options: argparse.Namespace, text: str, name: str) -> list[torch.Tensor]:
    """The results of a host program that launches kernels of cores: the interpreter of kernels executes it."""
    from ttnn_jit.interpreters.kernel_level.host_machine import interpret_kernels

    for option in ("golden", "target", "mesh", "after"):
        if getattr(options, option):
            raise ArgumentError(f"--{option} takes no module of kernels, as {name} is")
    module = module_of(text, name, for_passes=False)
    function = entry_point(module, options.entry)
    given, made = specs_of_function(function)
    inputs = _inputs(options, given, names_of_arguments(function))
    arrays = interpret_kernels(module, [*map(array_of_tensor, inputs, given)], options.entry)
    return list(map(tensor_of_array, arrays, made))


def _of_module(options: argparse.Namespace, module: ModuleOp) -> list[torch.Tensor]:
    schedule(module, options.after, options.entry)
    function, devices = single_function(module), mesh_devices_of(module)
    specs = specs_of_arguments(function)
    if devices is not None:
        whole = whole_arguments_of(function)
        specs = [spec for at, spec in enumerate(specs) for _ in range(1 if at in whole else len(devices))]
    inputs = _inputs(options, specs, names_of_arguments(function))
    if devices is not None:
        inputs = _with_shared_blocks(function, len(devices), inputs)
    if options.interpret:
        return interpreted(module, inputs, devices)
    return _results(driver.compile_scheduled(module), inputs, system_desc_of(module))


def _with_shared_blocks(function: FuncOp, count: int, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The inputs on each device, of which those that share memory are equal to the first of them."""
    whole, blocks, found = whole_arguments_of(function), shared_blocks_of(function), [*inputs]
    first = 0
    for index, _ in enumerate(function.args):
        for position, same in enumerate(blocks.get(index, ())):
            found[first + position] = inputs[first + same]
        first += 1 if index in whole else count
    return found


def _inputs(
    options: argparse.Namespace, specs: Sequence[TensorSpec], names: Sequence[str | None] = ()
) -> list[torch.Tensor]:
    import torch

    if options.inputs:
        return inputs_of_file(options.inputs, specs, names)
    require_memory(specs)
    generator = torch.Generator().manual_seed(options.seed)
    return [_random(spec, generator) for spec in specs]


def _random(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    """Normally distributed floats, or integers of all magnitudes."""
    import torch

    shape = tuple(spec.shape)
    if spec.dtype.is_integer:
        values = spec.dtype.values
        beyond = min(values[-1] + 1, torch.iinfo(torch.int64).max)
        return torch.randint(values[0], beyond, shape, generator=generator).to(spec.dtype.torch)
    return torch.randn(shape, generator=generator).to(spec.dtype.torch)


def _on_device(program: Program, inputs: Sequence[torch.Tensor], target: SystemDesc) -> list[torch.Tensor]:
    if program.plan.devices is not None:
        return _on_mesh(program, program.plan.devices, inputs, target)
    with Device(target) as device:
        tensors = [from_torch(tensor, spec, device) for tensor, spec in zip(inputs, program.plan.inputs, strict=True)]
        results = program(*tensors)
        return [torch_copy(result) for result in (results if isinstance(results, tuple) else (results,))]


def _on_mesh(
    program: Program, devices: MeshDevices, inputs: Sequence[torch.Tensor], target: SystemDesc
) -> list[torch.Tensor]:
    """The results on each device of a mesh, of inputs on each device."""
    plan = program.plan
    every = [Device(target, number) for number in range(devices.shape.mesh_size())]
    with MeshDevice(devices.shape, every):
        own = [every[number] for number in devices.numbers]
        homes = (own[plan.positions[index]] for index in range(len(plan.inputs)))
        tensors = [from_torch(*each) for each in zip(inputs, plan.inputs, homes, strict=True)]
        return [torch_copy(result) for result in program.run_on(own, tensors)]
