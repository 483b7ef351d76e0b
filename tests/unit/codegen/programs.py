"""Small programs for codegen's tests: built, scheduled, run natively and by the tile interpreter."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from tests.unit.kernels.emulated import Machine, is_foreign
from ttnn_jit.codegen.bodies.body_analysis import OPERATION_OF_TILE
from ttnn_jit.codegen.bodies.steps import KernelBody
from ttnn_jit.codegen.host import host_steps
from ttnn_jit.codegen.host.host_program import GeneratedProgram, generate
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.codegen.schedules.kernel import LoopNest, Loops
from ttnn_jit.codegen.schedules.vector_loop import Tier
from ttnn_jit.codegen.writing import llvm_kernel
from ttnn_jit.codegen.writing.llvm_kernel import LlvmKernel
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.kernels.isa import HostIsa, isa_for
from ttnn_jit.kernels.llvm.llvm_module import KernelModules
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.runtime.memory.buffer import ALIGNMENT
from ttnn_jit.runtime.native.native import kernel_address
from ttnn_jit.runtime.plans.launches import Launch, runs_of
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.transforms import pipeline

SCHEDULED = "d2m-insert-dst-register-access"


@cache
def host_isa() -> HostIsa:
    features = dict(llvm.get_host_cpu_features())
    return isa_for(llvm.get_host_cpu_name(), features, llvm.get_process_triple())


def built(specs, calls, *, target="cpu", results=(-1,)):
    """The TTNN module of a program.

    Args:
        specs: The arguments.
        calls: ``(name, operand, ...)``, by tile op or Python name, with ints for values (arguments, then calls, in
            order), floats for numbers, and an int in a tuple for one beside integers; operands beyond the operation's
            arity are its attributes.
        target: Name of a preset.
        results: The values returned.
    """
    builder = ModuleBuilder("program", resolve_target(target), None)
    values = [(builder.argument(spec), spec) for spec in specs]
    for name, *operands in calls:
        operation = OPERATION_OF_TILE.get(name) or OVERLOADS[name][0]
        count = operation.arity
        tensors = [values[o] if isinstance(o, int) else o[0] if isinstance(o, tuple) else o for o in operands[:count]]
        values.append(builder.operation(operation, tensors, operands[count:], None))
    return builder.finish([values[index][0] for index in results])


def lowered(module, until=SCHEDULED, **options):
    """`module` after a stage, in place."""
    pipeline.run(module, CompileOptions(**options), until=until)
    return module


def scheduled(specs, calls, **fields):
    """The program after ``d2m-insert-dst-register-access``."""
    return lowered(built(specs, calls, **fields))


def with_shared_kernels(specs, calls, **fields):
    """The program after that stage as a compile without texts makes it, in which equal kernels are lowered once."""
    module = built(specs, calls, **fields)
    pipeline.run_passes(module, pipeline.passes_around_codegen(CompileOptions(), shared=True)[0])
    return module


def stored(values: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The buffer of a tensor, bfloat16 as the uint16 of its bits; where its layout pads, numbers that show misuse.

    Of block floats `values` are the bytes of packed tiles.
    """
    if spec.dtype.is_block_float:
        return np.frombuffer(bytes(values), np.uint8).copy() if len(values) else np.zeros(1, np.uint8)
    span = sum((extent - 1) * abs(stride) for extent, stride in zip(spec.shape, spec.element_strides, strict=True))
    size = spec.nbytes // spec.dtype.itemsize if spec.strides is None else span + 1
    buffer = np.full(max(size, 1), 77, _numpy(spec))
    logical(buffer, spec)[...] = values
    return buffer


def logical(buffer: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The logical elements of a stored tensor, a view; of block floats the bytes of packed tiles."""
    if spec.dtype.is_block_float:
        return buffer[: spec.nbytes]
    start = _start(spec)
    strides = [stride * buffer.itemsize for stride in spec.element_strides]
    return np.lib.stride_tricks.as_strided(buffer[start:], spec.shape, strides)


def _start(spec: TensorSpec) -> int:
    pairs = zip(spec.shape, spec.element_strides, strict=True)
    return sum((extent - 1) * -stride for extent, stride in pairs if stride < 0 and extent)


def run_plan(plan: ProgramPlan, objects, inputs: Sequence[np.ndarray], *, in_storages=False) -> list[np.ndarray]:
    """The results of a program, by the kernels in `objects`.

    Every intermediate has memory of its own; or, `in_storages`, that of its storage, in which a buffer that gets it
    finds bytes of 255, NaN for most types.
    """
    buffers = [stored(values, spec) for values, spec in zip(inputs, plan.inputs, strict=True)]
    buffers += [_fresh(spec) for spec in plan.outputs]
    storages = [_block(spec.nbytes) for spec in plan.scratch] if in_storages else None
    for spec, memory in zip(plan.intermediates, plan.memory_of[len(buffers) :], strict=True):
        buffers.append(
            _fresh(spec) if storages is None else _view(storages[memory - len(inputs) - len(plan.outputs)], spec)
        )
    buffers += [np.array([each.bits], np.uint32) for each in plan.constants]
    guards = [buffer.copy() for buffer in buffers]
    holders: dict[int, int] = {}
    for launch in unrolled(plan):
        for k in launch.operands[-launch.written :] if storages is not None else ():
            _give(storages, plan, k, holders)
        run = emulate_kernel if is_foreign(objects[launch.kernel]) else run_kernel
        run(launch, plan, objects[launch.kernel], buffers)
        for number, k in holders.items():
            assert (storages[number][plan.buffers[k].nbytes :] == 255).all(), "a launch wrote behind its buffer"
    for k in range(len(inputs)):
        assert (buffers[k] == guards[k]).all() or np.isnan(guards[k]).any(), "an input was written"
    return [logical(buffers[k], plan.buffers[k]).copy() for k in plan.results]


def _give(storages, plan: ProgramPlan, k: int, holders: dict[int, int]) -> None:
    """Mark all bytes of the storage of an intermediate that a launch will write, unless it is the one written last."""
    number = plan.memory_of[k] - len(plan.inputs) - len(plan.outputs) if k < len(plan.buffers) else -1
    if number >= 0 and holders.get(number) != k:
        storages[number][...] = 255
        holders[number] = k


def unrolled(plan: ProgramPlan) -> list[Launch]:
    """Every launch of a plan as often as it runs, as one outside of repeats."""
    return [each.in_round(rounds) for each, rounds in runs_of(plan.launches)]


def _fresh(spec: TensorSpec) -> np.ndarray:
    """A marked buffer."""
    buffer = _view(_block(max(spec.nbytes, spec.dtype.itemsize)), spec)
    buffer[...] = 99
    return buffer


def _block(nbytes: int) -> np.ndarray:
    """Bytes that are aligned like blocks of the pool, because stores of big results are non-temporal."""
    memory = np.empty(nbytes + 2 * ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + nbytes]


def _view(memory: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The elements of a spec at the start of `memory`."""
    return memory[: max(spec.nbytes, spec.dtype.itemsize)].view(_numpy(spec))


def run_kernel(launch, plan, code, buffers) -> None:
    """One kernel on `buffers`."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel_address(launch.kernel, code))
    addresses = [buffers[k].ctypes.data + move for k, move in zip(launch.operands, _moves(launch, plan), strict=True)]
    function((ctypes.c_void_p * len(addresses))(*addresses), (ctypes.c_int64 * len(launch.params))(*launch.params))


def emulate_kernel(launch, plan, code, buffers, *, start=False) -> None:
    """`run_kernel` for aarch64 code in the emulator, each buffer with an inaccessible page at its end (or start)."""
    machine = Machine(code)
    starts = {k: machine.write(buffers[k], start=start) for k in launch.operands}
    addresses = [starts[k] + move for k, move in zip(launch.operands, _moves(launch, plan), strict=True)]
    pointers, params = np.array(addresses, np.int64), np.array(launch.params, np.int64)
    machine.call(launch.kernel, machine.write(pointers), machine.write(params))
    for k in set(launch.operands):
        buffers[k][...] = machine.read(starts[k], buffers[k])


def _moves(launch, plan) -> list[int]:
    """Per operand, the bytes from the start of its buffer to the first element that the launch accesses."""
    specs = [plan.operands[k] for k in launch.operands]
    offsets = [_start(spec) + offset for spec, offset in zip(specs, launch.offsets, strict=True)]
    return [offset * spec.dtype.stride_bytes for offset, spec in zip(offsets, specs, strict=True)]


@dataclass(frozen=True)
class ChosenKernel:
    """A body's kernel with its chosen loops."""

    nest: LoopNest
    kernel: LlvmKernel

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def text(self) -> str:
        return self.kernel.text

    @property
    def modules(self) -> KernelModules:
        return self.kernel.modules

    @property
    def picoseconds(self) -> int:
        return self.kernel.picoseconds

    @property
    def tier(self) -> Tier | None:
        return self.nest.one_loop.tier if self.nest.one_loop else Tier.OPTIMISED

    @property
    def stages(self) -> int:
        return len(self.nest.stages) if self.nest.loops is Loops.BLOCKS else 1

    @property
    def looked_up(self) -> tuple[str, ...]:
        return tuple(name for table in self.nest.tables for name in table.operations)


def kernel_of(body: KernelBody, isa: HostIsa) -> ChosenKernel:
    """The kernel of a body alone."""
    nest = host_steps.schedule_of(body, isa)
    return ChosenKernel(nest, llvm_kernel.kernel_of(nest, isa))


def native(module, inputs, isa=None) -> list[np.ndarray]:
    """The results of a scheduled module, by native kernels for `isa`, the host's by default."""
    isa = isa or host_isa()
    program = generate(module, isa)
    return run_plan(program.plan, objects_of(program, isa), inputs)


def objects_of(program: GeneratedProgram, isa: HostIsa) -> dict[str, bytes]:
    """Kernel name -> its object code, rare paths included."""
    return {name: assemble(kernel.modules.whole, isa) for name, kernel in program.kernels.items()}


def _numpy(spec: TensorSpec) -> np.dtype:
    return np.dtype(spec.dtype.traits.numpy)


def bfloat16(values: np.ndarray) -> np.ndarray:
    """The bits of bfloat16, by truncation."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(values.shape)


def assert_same_bits(got: np.ndarray, expected: np.ndarray) -> None:
    """Bits equal, any NaN equal to any NaN."""
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if got.dtype not in {np.dtype(np.float32), np.dtype(np.uint16)}:  # which may be bfloat16
        np.testing.assert_array_equal(got, expected)
        return
    unsigned = np.uint32 if got.dtype == np.float32 else np.uint16
    limit = 0x7F80_0000 if got.dtype == np.float32 else 0x7F80
    a, b = np.ascontiguousarray(got).view(unsigned), np.ascontiguousarray(expected).view(unsigned)
    magnitude = unsigned((1 << (8 * unsigned().itemsize - 1)) - 1)
    both_nan = ((a & magnitude) > limit) & ((b & magnitude) > limit)
    wrong = (a != b) & ~both_nan
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size}: {a[wrong][:4]} for {b[wrong][:4]}"
