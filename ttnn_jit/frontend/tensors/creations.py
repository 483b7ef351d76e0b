"""Functions of the host API in programs: their calls of `HostOps` become operations of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.tensors.program_device import ProgramDevice, as_program_argument
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor
from ttnn_jit.frontend.tensors.tensor_metadata import ttnn_equivalent
from ttnn_jit.frontend.tensors.writes import write
from ttnn_jit.ops import Operation
from ttnn_jit.ops.collectives.device_exchanges import DEVICE_POSITION
from ttnn_jit.ops.families.decomposition import BY_NAME
from ttnn_jit.ops.host_ops import Creation, Draws, HostOps
from ttnn_jit.ops.selection.random_numbers import KEY_OF_WORDS, NEXT_DRAW, NUMBERS_OF_A_DRAW, STATE_WORD
from ttnn_jit.runtime.memory.random_words import PARTS, words_of
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec, checked


def create(emitter: AbstractEmitter, creation: Creation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of the host API function `creation`, as tensors of the program that `emitter` writes.

    Raises:
        CompileError: The function refuses the arguments.
    """

    def given(value: Any) -> Any:
        return as_program_argument(emitter, ttnn_equivalent(emitter.operand(value)))

    location = emitter.location()
    own, named = [*map(given, args)], {name: given(value) for name, value in kwargs.items()}
    library, emitter.metadata_library = emitter.metadata_library, None
    try:
        return creation(_ProgramOps(emitter, location), own, named)
    except TtnnJitError as error:
        raise CompileError(error.message, location=location, help=error.help) from None
    except TypeError as error:
        raise CompileError(str(error), location=location) from None
    finally:
        emitter.metadata_library = library


class _ProgramOps(HostOps[ProgramTensor]):
    """The `HostOps` of a program: calls write its operations, and values are its tensors.

    Args:
        emitter: The program's emitter.
        location: The location of the call.
    """

    def __init__(self, emitter: AbstractEmitter, location: Location) -> None:
        self._emitter, self._builder, self._location = emitter, emitter.builder, location
        self.device = ProgramDevice(emitter)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._emitter.emit(BY_NAME[name], args, kwargs)

    def filled(self, number: float, spec: TensorSpec, _device: Any = None) -> Any:
        """A tensor filled with `number`."""
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
        """A random tensor; without a `seed` the program reads and updates the state of the shared generator."""
        builder, location, handle = self._builder, self._location, self._emitter.tensor
        if seed:
            first, *words = (builder.filled(word, STATE_WORD, location) for word in (0, *words_of(seed)))
            made = draws(handle(first), handle(builder.operation(KEY_OF_WORDS, words, (0,), location)), None)
        else:
            draw, key = map(self._emitter.random_state, PARTS)
            made = draws(self._own_draw(draw), key, None)
            # After the draw: it updates the counter in place.
            after = draw.operand
            for _ in builder.devices.placed:
                after = builder.operation(NEXT_DRAW, [after], (), location)
            write(self._emitter, draw, after, "a draw")
        return made if config is None else self.with_layout(made, made.spec.with_(memory_config=config))

    def _own_draw(self, draw: ProgramTensor) -> ProgramTensor:
        """The number of the draw of each device: on a mesh they draw one after the other."""
        if len(self._builder.devices.placed) == 1:
            return draw
        (position,) = self._emitter.exchanged("a draw", DEVICE_POSITION, (draw,), (NUMBERS_OF_A_DRAW,), None)
        own: ProgramTensor = self.add(draw, position)
        return own

    def with_memory_config(
        self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig
    ) -> ProgramTensor:
        """The result of `call`, with the memory config that it has eagerly, as for a `memory_config=`."""
        tensor: ProgramTensor = call(*arguments)
        tensor.requested = checked(tensor.spec.with_(memory_config=config))
        return tensor

    def with_layout(
        self, tensor: ProgramTensor, spec: TensorSpec, _device: Any = None, _name: str = ""
    ) -> ProgramTensor:
        """A tensor of the program, laid out as `spec`; a tensor of torch or numpy stays unchanged."""
        operand = self._emitter.live_operand(tensor, "a move")
        return self._emitter.tensor(self._builder.with_layout(operand, spec, self._location))

    def free(self, _tensor: ProgramTensor) -> None:
        """Does nothing: values of a program have no memory at compile time."""
