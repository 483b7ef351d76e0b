"""Functions of the host API in programs: what they are written over writes what they make into the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.tensors.program_device import ProgramDevice, on_program
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor
from ttnn_jit.frontend.tensors.tensor_metadata import known_term
from ttnn_jit.frontend.tensors.writes import write
from ttnn_jit.ops import Operation
from ttnn_jit.ops.families.decomposition import BY_NAME
from ttnn_jit.ops.host_ops import Creation, Draws, HostOps
from ttnn_jit.ops.selection.random_numbers import KEY_OF_WORDS, NEXT_DRAW, STATE_WORD
from ttnn_jit.runtime.programs.random_state import PARTS, words_of
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec, checked


def create(emitter: AbstractEmitter, creation: Creation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What such a function makes, on the device of the program that `emitter` writes.

    Raises:
        CompileError: The function refuses the arguments.
    """

    def given(value: Any) -> Any:
        return on_program(emitter, known_term(emitter.operand(value)))

    location = emitter.location()
    own, named = [*map(given, args)], {name: given(value) for name, value in kwargs.items()}
    words, emitter.words = emitter.words, None
    try:
        return creation(_ProgramOps(emitter, location), own, named)
    except TtnnJitError as error:
        raise CompileError(error.message, location=location, help=error.help) from None
    except TypeError as error:
        raise CompileError(str(error), location=location) from None
    finally:
        emitter.words = words


class _ProgramOps(HostOps[ProgramTensor]):
    """Calls are those of the program; values are what the function handles for its tensors.

    Args:
        emitter: Of the program.
        location: Of the call.
    """

    def __init__(self, emitter: AbstractEmitter, location: Location) -> None:
        self._emitter, self._builder, self._location = emitter, emitter.builder, location
        self.device = ProgramDevice(emitter)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._emitter.emit(BY_NAME[name], args, kwargs)

    def filled(self, number: float, spec: TensorSpec, _device: Any = None) -> Any:
        """A tensor of one number."""
        return self._emitter.tensor(self._builder.filled(number, spec, self._location))

    def made(
        self,
        operation: Operation,
        statics: Sequence[Any],
        spec: TensorSpec,
        _device: Any,
        _elements: Callable[[], Any],
    ) -> ProgramTensor:
        """The result of an operation without operands."""
        return self._emitter.tensor(self._builder.made(operation, statics, spec, self._location))

    def drawn(
        self, seed: int | None, draws: Draws[ProgramTensor], _device: Any, config: MemoryConfig | None = None
    ) -> ProgramTensor:
        """Of a seed the program computes the state; that of the generator that calls share it reads and writes."""
        builder, location, handle = self._builder, self._location, self._emitter.tensor
        if seed:
            first, *words = (builder.filled(word, STATE_WORD, location) for word in (0, *words_of(seed)))
            made = draws(handle(first), handle(builder.operation(KEY_OF_WORDS, words, (0,), location)), None)
        else:
            draw, key = map(self._emitter.random_state, PARTS)
            made = draws(draw, key, None)
            after = builder.operation(NEXT_DRAW, [draw.operand], (), location)  # last: it is written where it lies
            write(self._emitter, draw, after, "a draw")
        return made if config is None else self.laid_out(made, made.spec.with_(memory_config=config))

    def with_memory_config(
        self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig
    ) -> ProgramTensor:
        """A result that says where it would lie eagerly, as those of `memory_config=` do."""
        tensor: ProgramTensor = call(*arguments)
        tensor.requested = checked(tensor.spec.with_(memory_config=config))
        return tensor

    def laid_out(self, tensor: ProgramTensor, spec: TensorSpec, _device: Any = None, _name: str = "") -> ProgramTensor:
        """The elements of a tensor of the program as `spec` says; a tensor of torch or numpy stays as it is."""
        operand = self._emitter.live_operand(tensor, "a move")
        return self._emitter.tensor(self._builder.laid_out(operand, spec, self._location))

    def free(self, _tensor: ProgramTensor) -> None:
        """Nothing: what a program computes has no memory of its own yet."""
