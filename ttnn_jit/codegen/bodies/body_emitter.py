"""The steps of a kernel's body over SIMD registers, as LLVM text.

A step's tile becomes one SSA value per vector, so DST slots are registers and a fused kernel reads and writes memory
once. Constants are splats, which LLVM keeps in memory operands or registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ttnn_jit.codegen.bodies.body_analysis import (
    between_bfloat16,
    both_signs,
    emission_order,
    operation_of_tile,
    propagates_nan,
)
from ttnn_jit.codegen.bodies.steps import (
    Accumulate,
    Apply,
    Cast,
    Constant,
    KernelBody,
    Load,
    LookUp,
    Product,
    Store,
    operands_of,
)
from ttnn_jit.kernels.llvm.blocks import Region
from ttnn_jit.kernels.llvm.elements import computed
from ttnn_jit.kernels.llvm.values import OrdinaryNumber, OrdinaryParameter, ordinary, usual_instructions
from ttnn_jit.kernels.llvm.values import Value as LlvmValue
from ttnn_jit.kernels.loops.tile_loop import Chunk, chunk_types
from ttnn_jit.kernels.vectors.bfloat16_conversions import Bfloat16Conversions, Vectors
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.specs.target import Numerics


class BodyEmitter:
    """Emits the steps of a chunk of `unroll` vectors, each step for all vectors before the next step.

    Attributes:
        instructions: Instructions of a chunk by step, without rare paths; complete after a call.
    """

    def __init__(self, body: KernelBody, builder: LlvmVector, unroll: int) -> None:
        self._body = body
        self._builder = builder
        self._unroll = unroll
        self._conversions = Bfloat16Conversions(builder, body.numerics, interleaved=body.is_all_bfloat16)
        self._order = emission_order(body)
        self._both_signs = both_signs(body)
        self._between_bfloat16 = between_bfloat16(body)
        self.instructions: dict[int, int] = {}
        self._inputs = [k for k, stream in enumerate(body.streams) if not stream.written]
        self._outputs = [k for k, stream in enumerate(body.streams) if stream.written]

    def region(self) -> Region:
        """A chunk's computation, from the chunks of all inputs to those of all outputs."""
        inputs = [self._parameters(self._body.streams[k]) for k in self._inputs]
        if self._builder.isa.avx512_bf16 and propagates_nan(self._body):
            results: Sequence[Chunk] = [[self._with_one_nan_check(inputs)]]
        else:
            results = self._results(inputs)
        flat = [[value for chunk in chunks for value in chunk] for chunks in (inputs, results)]
        return Region(self._builder.body, *flat)

    def _parameters(self, stream: Stream) -> Chunk:
        types = chunk_types(stream, self._builder.isa.lanes, self._unroll)
        if stream.access is InnerAccess.SCALAR:
            scalar = self._builder.new(types[0], "scalar")
            return [ordinary(scalar) if stream.is_ordinary else scalar] * self._unroll
        return [self._builder.new(type_, "element") for type_ in types]

    def _with_one_nan_check(self, inputs: Sequence[Chunk]) -> LlvmValue:
        """The bits of the only result, checked for NaN once instead of after every op, since NaN propagates to it."""
        careful = self._conversions
        self._conversions = Bfloat16Conversions(self._builder, careful.numerics, careful.interleaved, leaves_nan=True)
        bits = self._single_result(inputs)
        self._conversions = careful
        return self._builder.unless_nan(bits, lambda: self._single_result(inputs))

    def _single_result(self, inputs: Sequence[Chunk]) -> LlvmValue:
        ((bits,),) = self._results(inputs)
        return bits

    def _results(self, inputs: Sequence[Chunk]) -> list[Chunk]:
        loaded = dict(zip(self._inputs, inputs, strict=True))
        values: dict[int, Vectors] = {}
        results: dict[int, Chunk] = {}
        exact: dict[int, Vectors] = {}
        code = self._builder.body.code
        for index in self._order:
            before = len(code)
            match step := self._body.steps[index]:
                case Load():
                    values[index] = self._widened(step.stream, loaded[step.stream])
                case Store():
                    results[step.stream] = self._narrowed(step.stream, values[step.operand])
                case Accumulate():
                    values[index] = values[step.operand]  # the loop reduces the stored tile
                case Product():
                    raise AssertionError("a product is no vector code")
                case _:
                    values[index] = self._value(index, step, values, exact)
            self.instructions.setdefault(index, usual_instructions(code[before:]))
        return [results[k] for k in self._outputs]

    def _widened(self, k: int, chunk: Chunk) -> Vectors:
        stream = self._body.streams[k]
        if stream.dtype.is_compute_type or stream.access is InnerAccess.SCALAR:
            return tuple(chunk)
        if stream.dtype.is_upper_half:
            return self._conversions.widened(chunk[0], self._unroll)
        return tuple(computed(self._builder, elements, stream.dtype) for elements in chunk)

    def _narrowed(self, k: int, vectors: Vectors) -> Chunk:
        dtype = self._body.streams[k].dtype
        if dtype.is_compute_type:
            return vectors
        if dtype.is_upper_half:
            return [self._conversions.narrowed(vectors)]
        return [self._builder.narrow_to(vector, dtype) for vector in vectors]

    def _value(
        self, index: int, step: Apply | Cast | LookUp, values: Mapping[int, Vectors], exact: dict[int, Vectors]
    ) -> Vectors:
        """The tile of a step; `exact` caches results before rounding."""
        match step:
            case LookUp():
                return self._conversions.looked_up(values[step.operand])
            case Cast():
                return self._cast(step, values[step.operand])
            case Apply():
                if index not in exact:
                    exact |= self._computed(index, step, values)
                if step.dtype.is_compute_type or self._needs_no_rounding(index, step):
                    return exact[index]
                if self._chooses_among(step, self._is_stored_as_bfloat16):
                    return self._conversions.flushed(exact[index])
                return self._conversions.rounded(exact[index], step.dtype)

    def _cast(self, step: Cast, vectors: Vectors) -> Vectors:
        source, target, numerics = self._body.dtype_of(step.operand), step.dtype, self._body.numerics
        widths = source.compute.is_wide, target.compute.is_wide
        if target is not source and (target.is_integer is not source.is_integer or any(widths)):
            return tuple(self._builder.typecast(vector, source, target, numerics) for vector in vectors)
        if target is source or target.is_compute_type or self._is_bfloat16(step.operand):
            return vectors
        return self._conversions.rounded(vectors, target)

    def _bfloat16_power_of(self, index: int, step: Apply) -> float | None:
        """The exponent of an op that is a power of its bfloat16 operand and is computed on its bits; else None."""
        is_all_bfloat16 = self._builder.isa.avx512_vbmi and index in self._between_bfloat16
        return operation_of_tile(step.tile_name).implementations.power if is_all_bfloat16 else None

    def _computed(self, index: int, step: Apply, values: Mapping[int, Vectors]) -> dict[int, Vectors]:
        """The results, before rounding, of an op and of its pair f(-x)."""
        builder, operation = self._builder, operation_of_tile(step.tile_name)
        pair = self._both_signs.get(index)
        if pair is not None and operation.implementations.both_signs is not None:
            both = [operation.implementations.both_signs(builder, vector) for vector in values[pair.argument]]
            plain, negated = zip(*both, strict=True)
            return {pair.plain: plain, pair.negated: negated}
        power = self._bfloat16_power_of(index, step)
        if power is not None:
            (operand,) = operands_of(step)
            return {index: self._conversions.power(values[operand], power, step.tile_name, operation.emit)}
        emit, numbers = operation.emit_numbers, [self._parameter(number, values) for number in step.numbers]
        if operation.implementations.bfloat16 is not None and index in self._between_bfloat16:
            emit = operation.implementations.bfloat16
        compute = step.dtype.compute
        arithmetic = builder.arithmetic(compute)
        operands = [
            (arithmetic.const(operand.in_type(compute)),) * self._unroll
            if isinstance(operand, Constant)
            else values[operand]
            for operand in step.operands
        ]
        return {index: tuple(emit(arithmetic, *vectors, *numbers) for vectors in zip(*operands, strict=True))}

    @staticmethod
    def _parameter(number: int | Constant, values: Mapping[int, Vectors]) -> float | OrdinaryParameter:
        if isinstance(number, Constant):
            return number.value
        loaded = values[number][0]
        assert isinstance(loaded, OrdinaryNumber), "parameters that are loaded are ordinary"
        return OrdinaryParameter(loaded)

    def _needs_no_rounding(self, index: int, step: Apply) -> bool:
        """Whether the result is exact in bfloat16: computed on bits, or selected from operands that are."""
        return self._bfloat16_power_of(index, step) is not None or self._chooses_among(step, self._is_bfloat16)

    def _chooses_among(self, step: Apply, holds: Callable[[int], bool]) -> bool:
        """Whether the op selects one of its tiles, and `holds` is true of each."""
        tiles = [operand for operand in step.operands if isinstance(operand, int)]
        chosen = operation_of_tile(step.tile_name).algebra.selects_operand and len(tiles) == len(step.operands)
        return chosen and not step.numbers and all(map(holds, tiles))

    def _is_bfloat16(self, index: int) -> bool:
        """Whether rounding the step's tile to bfloat16 would return it."""
        # A NaN or denormal in a loaded tensor is converted as in a result.
        step = self._body.steps[index]
        if isinstance(step, Cast) and step.dtype.is_compute_type:
            return self._is_bfloat16(step.operand)
        is_clean = self._body.numerics is not Numerics.DEVICE or not isinstance(step, Load)
        return is_clean and self._is_stored_as_bfloat16(index)

    def _is_stored_as_bfloat16(self, index: int) -> bool:
        """Whether the step's tile holds bfloat16 numbers, under device numerics perhaps NaN and denormals."""
        match step := self._body.steps[index]:
            case Cast() if step.dtype.is_compute_type:
                return self._is_stored_as_bfloat16(step.operand)
            case Apply() if self._needs_no_rounding(index, step):
                return True
            case _:
                return self._body.dtype_of(index).is_upper_half
