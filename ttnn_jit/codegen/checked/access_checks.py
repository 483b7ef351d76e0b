"""Functions of the checks: one finds the range of memory in which an access lies, one notes the first error.

Every operation that accesses memory has three words of the run with the range in which its last access lay. While
addresses stay in that range a check is three comparisons; otherwise `FIND_RANGE` looks the address up.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import FunctionText, ModuleText
from ttnn_jit.kernels.llvm.types import I1, I64, PTR, VOID, array
from ttnn_jit.kernels.llvm.values import FALSE, TRUE, Value, i64
from ttnn_jit.runtime.native.run_record import Error, Word

FAIL = "fail"
"""The symbol of a function that notes an error: (record, error, site, address, bytes)."""
FIND_RANGE = "find_range"
"""The symbol of a function: (record, address, bytes, site, words of the access) -> whether they lie in a range."""

RUN = Parameter("run", PTR)
"""The first parameter of every function: the record of the run."""


def word(b: Builder, run: Value, which: Word) -> Value:
    """The address of a word of the record."""
    return b.element(run, I64, int(which))


def check_functions(module: ModuleText) -> tuple[FunctionText, ...]:
    """The functions `FAIL` and `FIND_RANGE`."""
    return _fail(module), _find_range(module)


def _fail(module: ModuleText) -> FunctionText:
    words = (Word.ERROR, Word.SITE, Word.ADDRESS, Word.BYTES)
    parameters = [Parameter(each.name.lower(), I64) for each in words]
    b = FunctionBuilder(FAIL, module, [RUN, *parameters], is_internal=True)
    run, *values = b.parameters
    known = b.load(I64, word(b, run, Word.ERROR))
    with b.when(b.compare("eq", known, 0), "first"):
        for which, value in zip(words, values, strict=True):
            b.store(value, word(b, run, which))
    return b.build()


def _find_range(module: ModuleText) -> FunctionText:
    parameters = [RUN, *(Parameter(each, I64) for each in ("address", "bytes", "site")), Parameter("seen", PTR)]
    b = FunctionBuilder(FIND_RANGE, module, parameters, I1, is_internal=True)
    run, address, nbytes, site, seen = b.parameters
    nothing, search = b.new_block("nothing"), b.new_block("search")
    b.branch_if(b.compare("eq", nbytes, 0), nothing, search)
    b.begin(nothing)
    b.ret(TRUE)
    b.begin(search)
    count, table = b.load(I64, word(b, run, Word.RANGES)), b.load(PTR, word(b, run, Word.TABLE))
    with b.while_loop("range", ("at", i64(0))) as ranges:
        (at,) = ranges.values
        ranges.leave_unless(b.compare("ult", at, count))
        pair = b.element(table, array(2, I64), at)
        low, high = b.load(I64, pair, hint="low"), b.load(I64, b.element(pair, I64, 1), hint="high")
        is_near = b.bit_and(b.compare("uge", address, low), b.compare("ule", address, high))
        has_space = b.compare("uge", b.sub(high, address), nbytes)
        found, other = b.new_block("found"), b.new_block("other")
        b.branch_if(b.bit_and(is_near, has_space), found, other)
        b.begin(found)
        known = (low, b.sub(high, nbytes), b.load(I64, word(b, run, Word.GENERATION)))
        for index, value in enumerate(known):
            b.store(value, b.element(seen, I64, index))
        b.ret(TRUE)
        b.begin(other)
        ranges.again(b.add(at, 1))
    b.call(VOID, FAIL, run, i64(Error.OUT_OF_RANGE), site, address, nbytes)
    return b.build(FALSE)
