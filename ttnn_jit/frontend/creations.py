"""Calls of functions of the host API that programs may call: what they make is written into the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.program_device import without_device
from ttnn_jit.frontend.tensor_metadata import known_term
from ttnn_jit.frontend.writes import write
from ttnn_jit.ops import Operation
from ttnn_jit.ops.created_tensors import making
from ttnn_jit.ops.random_numbers import KEY_OF_WORDS, NEXT_DRAW, STATE_WORD
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.random_state import DRAW, PARTS, words_of
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec, checked

if TYPE_CHECKING:
    from ttnn_jit.frontend.emitter import Emitter


def create(emitter: Emitter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `function` makes, on the device of the program that `emitter` writes.

    Raises:
        CompileError: The function refuses the arguments.
    """
    location = emitter.location()
    given = [without_device(known_term(emitter.operand(value))) for value in args]
    named = {name: without_device(known_term(emitter.operand(value))) for name, value in kwargs.items()}
    try:
        with making(_Maker(emitter, location)):
            return function(*given, **named)
    except TtnnJitError as error:
        raise CompileError(error.message, location=location, help=error.help) from None
    except TypeError as error:
        raise CompileError(str(error), location=location) from None


@dataclass(frozen=True)
class _Maker:
    """Writes what such functions make.

    Attributes:
        emitter: Of the program.
        location: Of the call.
    """

    emitter: Emitter
    location: Location

    def filled(self, number: float, spec: TensorSpec) -> Any:
        """A tensor of one number."""
        return self.emitter.tensor(self.emitter.builder.filled(number, spec, self.location))

    def made(self, operation: Operation, statics: Sequence[Any], spec: TensorSpec) -> Any:
        """The result of an operation without operands."""
        return self.emitter.tensor(self.emitter.builder.made(operation, statics, spec, self.location))

    def generator(self, seed: int | None) -> tuple[Any, Any]:
        """What a draw reads (ops/random_numbers.py): of a generator with that seed, or of the one that calls share."""
        builder, location = self.emitter.builder, self.location
        if seed:
            first, *words = (builder.filled(word, STATE_WORD, location) for word in (0, *words_of(seed)))
            joined = builder.operation(KEY_OF_WORDS, words, (0,), location)
            return self.emitter.tensor(first), self.emitter.tensor(joined)
        draw, key = map(self.emitter.random_state, PARTS)
        return draw, key

    def count_draw(self) -> None:
        """Has the generator that calls share go on to its next draw: last, so that programs write it where it lies."""
        draw = self.emitter.random_state(DRAW)
        after = self.emitter.builder.operation(NEXT_DRAW, [draw.operand], (), self.location)
        write(self.emitter, draw, after, "a draw")

    def laid_out(self, tensor: Any, spec: TensorSpec) -> Any:
        """The elements of a tensor of the program as `spec` says; a tensor of torch or numpy stays as it is."""
        operand = self.emitter.live_operand(tensor, "a move")
        return self.emitter.tensor(self.emitter.builder.laid_out(operand, spec, self.location))

    def with_requested_layout(self, tensor: Any, config: MemoryConfig) -> Any:
        """A result of the program's that says where it would lie eagerly, as those of `memory_config=` do."""
        tensor.requested = checked(tensor.spec.with_(memory_config=config))
        return tensor
