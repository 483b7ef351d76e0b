"""Vectors of 64-bit elements as LLVM instructions, and the builder that vector math on any elements shares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText, RarePath
from ttnn_jit.kernels.llvm.types import DOUBLE, FLOAT, I32, I64, Type
from ttnn_jit.kernels.llvm.values import Body, InstructionCost, Value, double, integer, poison
from ttnn_jit.process.memoized import memoized


class LlvmBuilder(Builder):
    """A builder for an instruction set, with functions out of line."""

    def __init__(self, isa: HostIsa, module: ModuleText, body: Body | None = None) -> None:
        super().__init__(module, body)
        self.isa = isa

    def _out_of_line(self, name: str, body: Callable[..., Value], *arguments: Value) -> Value:
        """A call of an out-of-line function that computes `body`; arguments and result have one type.

        The first use adds the function to the module.
        """
        type_ = arguments[0].type
        rare, needed = _rare_path(type(self), self.isa, name, body, type_, len(arguments))
        if rare.text.name not in self.module.rare_paths:
            self.module.rare_paths[rare.text.name] = rare
            self.module.add(needed)
        return self.call(type_, rare.name, *arguments)


@memoized(maxsize=64)
def _rare_path(
    builder: type[LlvmBuilder], isa: HostIsa, name: str, body: Callable[..., Value], type_: Type, count: int
) -> tuple[RarePath, ModuleText]:
    """The out-of-line function of `body` with `count` arguments of a type, and its declarations; shared by modules."""
    module, parameters = ModuleText(), [Parameter(f"x{k}", type_) for k in range(count)]
    attributes = "noinline cold nounwind"
    f = FunctionBuilder(f"ttnn_jit.{name}.v{isa.lanes}", module, parameters, type_, attributes=attributes)
    text = f.build(body(builder(isa, module, f.body), *f.parameters))
    return RarePath(text, count, is_standalone=not module.rare_paths), module


def _calls(function: str) -> Callable[..., Value]:
    """A method that calls an intrinsic of the vector type."""
    return lambda self, *operands: self.intrinsic(self._double, function, *operands)


def _compares(predicate: str) -> Callable[..., Value]:
    """A method that compares."""
    return lambda self, a, b: self.compare(predicate, a, b)


class LlvmWide(LlvmBuilder):
    """`WidePrimitives` on ``<lanes x i64>`` and ``<lanes x double>``: lanes as of float32, in two registers or more."""

    def __init__(self, isa: HostIsa, module: ModuleText, body: Body | None = None) -> None:
        super().__init__(isa, module, body)
        self._double, self._wide = DOUBLE.times(isa.lanes), I64.times(isa.lanes)

    def int_const(self, value: int) -> Value:
        return integer(value, self._wide)

    int_add = Builder.add
    int_sub = Builder.sub
    int_mul = Builder.mul
    quotient = Builder.signed_div
    unsigned_quotient = Builder.unsigned_div
    int_and = Builder.bit_and
    int_or = Builder.bit_or
    int_xor = Builder.bit_xor
    int_eq = _compares("eq")
    int_lt = _compares("slt")
    unsigned_lt = _compares("ult")
    int_select = Builder.select
    both = Builder.bit_and
    either = Builder.bit_or
    invert = Builder.bit_not

    def const(self, value: float) -> Value:
        return double(value, self._double)

    fma = _calls("llvm.fma.{}")
    abs = _calls("llvm.fabs.{}")
    copysign = _calls("llvm.copysign.{}")
    minimum = _calls("llvm.minimum.{}")
    maximum = _calls("llvm.maximum.{}")
    round_even = _calls("llvm.roundeven.{}")
    floor = _calls("llvm.floor.{}")
    ceil = _calls("llvm.ceil.{}")
    trunc = _calls("llvm.trunc.{}")
    lt = _compares("olt")
    le = _compares("ole")
    gt = _compares("ogt")
    ge = _compares("oge")
    eq = _compares("oeq")
    ne = _compares("une")

    def sqrt(self, a: Value) -> Value:
        return self.intrinsic(self._double, "llvm.sqrt.{}", a, cost=InstructionCost.DIVISION)

    def library(self, name: str, *operands: Value) -> Value:
        return self._out_of_line(f"library.{name}", _library_call(name), *operands)

    def widened(self, a: Value) -> Value:
        return self.convert("fpext", a, self._double)

    def nearest(self, a: Value) -> Value:
        return self.convert("fptrunc", a, FLOAT.times(self.isa.lanes))

    def to_float(self, i: Value) -> Value:
        return self.convert("sitofp", i, self._double)

    def truncated(self, a: Value) -> Value:
        return self.convert("fptosi", a, self._wide)

    def low(self, i: Value) -> Value:
        return self.narrow(i, I32.times(self.isa.lanes))


@memoized
def _library_call(name: str) -> Callable[..., Value]:
    return partial(_call_by_lane, name)


def _call_by_lane(name: str, builder: LlvmWide, *operands: Value) -> Value:
    """A function of the C library, called for each lane."""
    result = poison(operands[0].type)
    for lane in range(result.type.lanes):
        elements = [builder.extract(each, lane) for each in operands]
        result = builder.insert(result, builder.intrinsic(DOUBLE, name, *elements), lane)
    return result
