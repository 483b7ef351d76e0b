"""Calls of functions that tt-mlir has hoisted to the host: native code of their LLVM dialect, on torch tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.codegen.checked.instruction_text import checked_text
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.compiler.llvm_backend import isa_of_this_host
from ttnn_jit.diagnostics.errors import CompileError, InternalError, TtnnJitError
from ttnn_jit.dialects.cpu_module.cpu_functions import CpuFunction, cpu_function
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.interpreters.host_level.host_interpreter import interpreted
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.ops.families.text_operation import OpInText, TextCall, TextOperation
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.runtime.native.checked_run import WRAPPED_WORDS, CheckedCode, CheckedError, CheckedRun, Wrapped
from ttnn_jit.runtime.native.run_record import Error

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.func import CallOp
    from xdsl.ir import Operation

    from ttnn_jit.specs.tensor_spec import TensorSpec

_REASONS = {
    Error.OUT_OF_RANGE: "an access to {bytes} bytes outside of the operands, globals and allocations of the function",
    Error.TOO_LONG: "the function takes too many steps for the bytes that it is given",
    Error.DIVISION: "a quotient that its type does not have",
    Error.UNREACHABLE: "what the text says is never reached",
    Error.NO_MEMORY: "more memory than a function of such operands may have: {bytes} bytes",
    Error.RELEASED: "memory is released that is not allocated",
}


_FAST_ISEL_SCALARS = 1500
"""The time of LLVM's optimising code generator grows with the square of a function: beyond so many, it is not used."""


class HostCall:
    """A call of a function of the host's module.

    Args:
        op: The call.

    Attributes:
        function: The function, with what it calls.
        operands: The tensors that it reads.
        results: The specs of the results.

    Raises:
        CompileError: There is no wrapper of the function, or a tensor has no elements in memory.
    """

    def __init__(self, op: CallOp) -> None:
        self._op = op
        self.function: CpuFunction = cpu_function(op, symbol_of(op.callee))
        self.results: list[TensorSpec] = [_dense_spec(op, each.type) for each in op.results if is_tensor(each.type)]
        self.operands = tuple(each for each in op.operands if is_tensor(each.type))
        self._specs = [_dense_spec(op, each.type) for each in self.operands]

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The results on tensors, which stay as they are.

        Raises:
            CompileError: An operation of the function is not executed here, or the run stopped at one.
        """
        code, sites = self._compiled
        passed = passed_tensors(self.function, tensors, self.results)
        wrapped = [Wrapped(each.data_ptr(), each.numel() * each.element_size(), tuple(each.shape)) for each in passed]
        contents = list(map(_buffer, self.function.global_bytes.values()))
        globals_ = [(each.ctypes.data, each.nbytes) for each in contents]
        result_bytes = sum(each.volume * each.dtype.torch.itemsize for each in self.results)
        run = CheckedRun(code, wrapped, globals_, result_bytes, len(sites))
        try:
            address = run.run()
            if returns_nothing(self.function):
                return passed[len(passed) - len(self.results) :]
            words = run.words(address, WRAPPED_WORDS * len(self.results))
            return [self._result(run, words[WRAPPED_WORDS * index :], spec) for index, spec in enumerate(self.results)]
        except CheckedError as error:
            raise self._located(error, sites) from error

    @cached_property
    def read(self) -> OpCall:
        """The call as an op of a text, whose golden interprets the function in numpy."""
        form = OpInText(("operands*",))
        operation = TextOperation((name_of(self._op),), form, _no_calls, self._golden)
        distinct = tuple(dict.fromkeys(self.operands))
        return OpCall(operation, distinct, {"operands": [*self.operands]}, (*self.results,))

    def _golden(self, torch: Any, call: TextCall) -> list[torch.Tensor]:
        given = [
            _numpy_of(tensor.to(spec.dtype.torch)) for tensor, spec in zip(call.operands, self._specs, strict=True)
        ]
        results = [
            (tuple(each.shape), _numpy_of(torch.zeros(0, dtype=each.dtype.torch)).dtype) for each in self.results
        ]
        found = interpreted(self.function, given, results)
        return [torch.from_numpy(each).view(spec.dtype.torch) for each, spec in zip(found, self.results, strict=True)]

    def compile(self) -> None:
        """Make the native code.

        Raises:
            CompileError: An operation of the function is not executed here.
        """
        _ = self._compiled

    @cached_property
    def _compiled(self) -> tuple[CheckedCode, tuple[Operation, ...]]:
        made = checked_text(self.function)
        try:
            return _code_of(made.text, fast_isel=self.function.scalars > _FAST_ISEL_SCALARS), made.sites
        except InternalError as error:
            raise CompileError(
                f"@{self.function.name} of the host's module is no valid LLVM: {error.message.splitlines()[0]}",
                location=location_of(self.function.entry) or location_of(self._op),
            ) from error

    def _result(self, run: CheckedRun, words: Sequence[int], spec: TensorSpec) -> torch.Tensor:
        import numpy as np
        import torch

        _, aligned, offset, extents = words[:WRAPPED_WORDS]
        rank = len(spec.shape)
        sizes = run.words(extents, 2 * rank)
        if tuple(sizes[:rank]) != tuple(spec.shape):
            raise CompileError(
                f"@{self.function.name} returns the shape {sizes[:rank]}, and the text says {list(spec.shape)}",
                location=location_of(self._op),
            )
        size = spec.dtype.torch.itemsize
        found = run.strided(aligned, offset, sizes[:rank], sizes[rank:], size)
        data = np.ascontiguousarray(found).tobytes()
        flat = torch.frombuffer(bytearray(data or bytes(size)), dtype=spec.dtype.torch)
        return flat[: spec.volume].reshape(tuple(spec.shape))

    def _located(self, error: CheckedError, sites: Sequence[Operation]) -> CompileError:
        reason = _REASONS[error.error].format(bytes=f"{error.nbytes:,}")
        if not 0 <= error.site < len(sites):
            return CompileError(f"the result of @{self.function.name}: {reason}", location=location_of(self._op))
        op = sites[error.site]
        return CompileError(
            f"`{name_of(op)}` of @{self.function.name}: {reason}", location=location_of(op) or location_of(self._op)
        )


@lru_cache(maxsize=256)
def _code_of(text: str, *, fast_isel: bool) -> CheckedCode:
    """Native code stays mapped as long as the process runs, so that equal texts share it."""
    return CheckedCode(assemble(LlvmModule(text, fast_isel=fast_isel), isa_of_this_host()))


def returns_nothing(function: CpuFunction) -> bool:
    """Whether a wrapper writes its results into its last operands, as tt-mlir's of 2025 do."""
    from xdsl.dialects.llvm import LLVMVoidType

    return isinstance(function.entry.function_type.output, LLVMVoidType)


def passed_tensors(
    function: CpuFunction, tensors: Sequence[torch.Tensor], results: Sequence[TensorSpec]
) -> list[torch.Tensor]:
    """Copies of the tensors that a wrapper gets; one that returns nothing may get its results as well."""
    import torch

    passed = [each.detach().clone(memory_format=torch.contiguous_format) for each in tensors]
    ranks = function.ranks
    if returns_nothing(function) and len(passed) + len(results) == len(ranks or ()):
        passed += [torch.zeros(tuple(each.shape), dtype=each.dtype.torch) for each in results]
    return passed


def _numpy_of(tensor: torch.Tensor) -> Any:
    """The elements of a tensor in numpy, those that it has no type for as integers of the same bits."""
    import torch

    held = tensor.detach().contiguous()
    return (held.view(torch.int16) if held.dtype is torch.bfloat16 else held).numpy()


def _no_calls(_: Any, __: TextCall) -> Any:
    raise InternalError("a function of the host's module is no calls of operations")


def _buffer(data: bytes) -> Any:
    import numpy as np

    return np.frombuffer(bytearray(data or b"\0"), np.uint8)


def _dense_spec(op: CallOp, kind: Any) -> TensorSpec:
    """The spec of a tensor whose elements lie in dense rows."""
    try:
        spec = spec_in_text(kind)
    except TtnnJitError as error:
        raise CompileError(error.message, location=location_of(op), help=error.help) from error
    if spec.dtype.is_block_float:
        raise CompileError(
            f"@{symbol_of(op.callee)} of the host's module takes or returns {spec.dtype.mlir}", location=location_of(op)
        )
    return spec
