"""Programs of functions of texts (frontend/ir), on torch tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.compiler.driver import compile_module
from ttnn_jit.compiler.texts.host_calls import HostCall
from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, ShapeError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.text_calls.op_calls import read_op
from ttnn_jit.frontend.ir.lowered_text import (
    Argument,
    Constant,
    HostResult,
    KeptResult,
    LoweredText,
    PartResult,
    Source,
)
from ttnn_jit.frontend.ir.lowering import FunctionLowering, callee_of
from ttnn_jit.frontend.ir.texts import functions_in
from ttnn_jit.ops.families.text_operation import DenseNumbers, numbers_in_torch
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.programs.torch_run import run_on_torch
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import CallOp, FuncOp
    from xdsl.ir import Operation, SSAValue

Versions = tuple[tuple[int, int], ...]
"""The identity and version of each tensor."""


class _Run:
    """What a run of a program has computed so far.

    Args:
        arguments: Its arguments.

    Attributes:
        kept: Function and operands -> the results of a function that runs once.
        parts: The results of parts of the program, by their numbers.
        of_host: Call and operands -> the results of a function of the host's module.
    """

    def __init__(self, arguments: Sequence[torch.Tensor]) -> None:
        self.arguments = arguments
        self.kept: dict[tuple[str, tuple[Source, ...]], list[torch.Tensor]] = {}
        self.parts: dict[int, list[torch.Tensor]] = {}
        self.of_host: dict[tuple[CallOp, tuple[Source, ...]], list[torch.Tensor]] = {}


class KeptResults:
    """Counts of this process: how often a function ran whose results are kept, and how often kept results were read."""

    counts: ClassVar[Counter[str]] = Counter()


class TextModule:
    """The functions of a module of a text.

    Args:
        module: The module.
        target: The target that they are compiled for.
        mesh: The extents of the mesh whose devices run them.

    Attributes:
        functions: Every function with a body by name.
    """

    def __init__(self, module: ModuleOp, target: SystemDesc, mesh: Sequence[int] = (1,)) -> None:
        self.module = module
        self.target = target
        self.mesh = tuple(mesh)
        self.functions: dict[str, FuncOp] = functions_in(module)
        self._programs: dict[str, TextProgram] = {}
        self._compiled: dict[str, Program] = {}
        self._host_calls: dict[CallOp, HostCall] = {}

    def program(self, name: str) -> TextProgram:
        """The program of a function, made once.

        Raises:
            CompileError: An op of it is not executed here.
        """
        found = self._programs.get(name)
        return self._new_program(name) if found is None else found

    def _new_program(self, name: str) -> TextProgram:
        with compiling():
            if name not in self._programs:
                lowering = FunctionLowering(self.functions, self.target, name, self.mesh)
                self._programs[name] = TextProgram(self, lowering.lower_function(self.functions[name]))
            return self._programs[name]

    def program_of(self, op: Operation, inputs: Sequence[SSAValue], *, on_mesh: bool = False) -> TextProgram:
        """The program of one op that reads `inputs`, on one device or on all of them.

        Raises:
            CompileError: It is not executed here.
        """
        lowering = FunctionLowering(self.functions, self.target, "op", self.mesh if on_mesh else (1,))
        return TextProgram(self, lowering.lower(inputs, [op], read_op(op).written(op), apart=on_mesh))

    def callee(self, op: Operation, name: str) -> FuncOp:
        """The function that an op calls.

        Raises:
            CompileError: There is none of that name.
        """
        return callee_of(self.functions, op, name)

    def host_call(self, op: CallOp) -> HostCall:
        """A call of a function of the host's module, made once.

        Raises:
            CompileError: It is not executed here.
        """
        if op not in self._host_calls:
            self._host_calls[op] = HostCall(op)
        return self._host_calls[op]

    def compiled(self, module: ModuleOp) -> Program:
        """The program of a lowered module; equal modules have one."""
        text = print_module(module)
        found = self._compiled.get(text)
        if found is None:
            found = self._compiled[text] = compile_module(module, CompileOptions())
        return found


class TextProgram:
    """A function that runs on torch tensors.

    Args:
        module: The module that it belongs to.
        lowered: The function.

    Attributes:
        lowered: The function, of TTNN ops.
        arguments: The specs of its arguments.
        results: The specs of its results.
    """

    def __init__(self, module: TextModule, lowered: LoweredText) -> None:
        self._module = module
        self.lowered = lowered
        self._constants: dict[int, torch.Tensor] = {}
        self._kept: dict[tuple[Any, ...], tuple[list[torch.Tensor], list[torch.Tensor], Versions]] = {}
        self.arguments = lowered.arguments
        self.results = lowered.results
        self._part_programs: dict[int, Program] = {}
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        """The compiled program, made once; of one with several parts, the last.

        Raises:
            CompileError: A stage refuses it, or a function of the host's module is not executed here.
        """
        if self._program is not None:
            return self._program
        with compiling():  # another thread finds what the first one makes, which consumes the lowered modules
            if self._program is None:
                self._program = self._compiled()
            return self._program

    def _compiled(self) -> Program:
        for number, part in enumerate(self.lowered.parts):
            if part.results:
                self._part_programs[number] = self._module.compiled(part.module)
        for source in self._specs:
            if isinstance(source, HostResult):
                self._module.host_call(source.call).compile()
        return self._module.compiled(self.lowered.module)

    @cached_property
    def _specs(self) -> dict[Source, TensorSpec]:
        """The spec of every input of every part."""
        parts = (*self.lowered.parts, self.lowered)
        return {source: spec for part in parts for source, spec in zip(part.inputs, part.specs, strict=True)}

    def __call__(self, *arguments: torch.Tensor) -> list[torch.Tensor]:
        """The results on tensors of the arguments' shapes and dtypes.

        Raises:
            ArgumentError: There are more or fewer arguments.
            ShapeError: One has another shape.
            DTypeError: One has another element type.
            CompileError: A stage refuses the function, or one that it calls.
        """
        self._require_arguments(arguments)
        return self._run(arguments, unpacks=True)

    def inputs(self, arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What the lowered function takes: arguments, constants and kept results of other functions."""
        self._require_arguments(arguments)
        return self._inputs(self.lowered, _Run(arguments))

    def _run(self, arguments: Sequence[torch.Tensor], *, unpacks: bool) -> list[torch.Tensor]:
        program = self.program
        return run_on_torch(program, self._inputs(self.lowered, _Run(arguments)), unpacks=unpacks)

    def _inputs(self, part: LoweredText, run: _Run) -> list[torch.Tensor]:
        specs = zip(part.inputs, part.specs, strict=True)
        return [self._tensor(source, spec, run) for source, spec in specs]

    def _require_arguments(self, arguments: Sequence[torch.Tensor]) -> None:
        require_as_many(len(self.arguments), len(arguments))
        for index, (tensor, spec) in enumerate(zip(arguments, self.arguments, strict=True)):
            if tuple(tensor.shape) != tuple(spec.shape):
                raise ShapeError(
                    f"argument {index} of the program has the shape {list(spec.shape)}, got {list(tensor.shape)}"
                )
            if tensor.dtype is not spec.dtype.torch:
                raise DTypeError(
                    f"argument {index} of the program is of {spec.dtype.torch}, got {tensor.dtype}",
                    help="cast it with `tensor.to(dtype)`",
                )

    def _tensor(self, source: Source, spec: TensorSpec | None, run: _Run) -> torch.Tensor:
        match source:
            case Argument(index):
                return run.arguments[index]
            case Constant(numbers):
                assert spec is not None, "a constant is an input of this program"
                return self._constants.setdefault(id(source), constant_tensor(numbers, spec))
            case KeptResult(callee, operands, index):
                if (callee, operands) not in run.kept:
                    run.kept[callee, operands] = self._kept_results(callee, operands, run)
                return run.kept[callee, operands][index]
            case PartResult(number, index):
                if number not in run.parts:
                    inputs = self._inputs(self.lowered.parts[number], run)
                    run.parts[number] = run_on_torch(self._part_programs[number], inputs, unpacks=False)
                return run.parts[number][index]
            case HostResult(call, operands, index):
                if (call, operands) not in run.of_host:
                    given = [self._tensor(each, self._specs.get(each), run) for each in operands]
                    run.of_host[call, operands] = self._module.host_call(call)(given)
                return run.of_host[call, operands][index]

    def _kept_results(self, callee: str, operands: Sequence[Source], run: _Run) -> list[torch.Tensor]:
        """The results of a function that runs once for the same tensors, unless these were written since."""
        given = [self._tensor(each, self._specs[each], run) for each in operands]
        versions: Versions = tuple((id(each), each._version) for each in given)
        key = (callee, *operands)
        found = self._kept.get(key)
        is_kept = found is not None and found[2] == versions
        KeptResults.counts["hit" if is_kept else "miss"] += 1
        if found is None or not is_kept:
            found = self._kept[key] = (self._module.program(callee)._run(given, unpacks=False), given, versions)
        return found[0]


def require_as_many(taken: int, given: int) -> None:
    """Refuses another number of arguments.

    Raises:
        ArgumentError: It is another.
    """
    if taken != given:
        raise ArgumentError(f"the program takes {taken} tensors, got {given}")


def constant_tensor(numbers: DenseNumbers, spec: TensorSpec) -> torch.Tensor:
    """The tensor of a constant."""
    import torch

    values: torch.Tensor = numbers_in_torch(torch, numbers.numbers, is_integer=spec.dtype.is_integer)
    return values.reshape(tuple(spec.shape)).to(spec.dtype.torch)


def zeros(spec: TensorSpec) -> torch.Tensor:
    """The tensor of an allocation: an op that reads it before one has written it gets zeros."""
    import torch

    return torch.zeros(tuple(spec.shape), dtype=spec.dtype.torch)
