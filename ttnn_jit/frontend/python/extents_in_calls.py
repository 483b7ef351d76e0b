"""Numbers of a trace in calls: which functions of Python keep their expressions, and which get plain numbers.

A function that Python computes gets plain ints and floats in their place, unless it is listed here. The number is that
of this compile, which a guard records.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import GeneratorType
from typing import Any

from ttnn_jit.diagnostics.source import source_text
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.foreign.values import is_a
from ttnn_jit.frontend.plain_numbers import SymbolicSize, of_same_class, plain
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor, TensorArgument
from ttnn_jit.specs.configs.unary_op_type import UnaryWithParam
from ttnn_jit.specs.cores.memory_config import NdShardSpec, ShardSpec
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.extents.extent import Extent, applied, is_extent, is_of_trace
from ttnn_jit.specs.extents.float_functions import MATH_FUNCTIONS
from ttnn_jit.specs.extents.symbolic_float import SymbolicFloat
from ttnn_jit.specs.extents.trace import Trace
from ttnn_jit.specs.tensor_spec import Shape

# --- Functions that keep extents ------------------------------------------------------------------------------------

_IN_PLACE = (
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
)  # fmt: skip
_ARITHMETIC = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.neg, operator.pos,
    operator.abs, abs, divmod, pow, round, math.floor, math.ceil, math.trunc, *_IN_PLACE,
})  # fmt: skip
_COMPARISONS = frozenset({operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge})
_WHOLE = frozenset({int, operator.index})
"""Functions that return an int unchanged."""
_OF_FLOATS = frozenset({float, *MATH_FUNCTIONS})
"""Functions of one number with a float as result, which the trace computes."""
_OF_CLASSES = frozenset({type, callable})
"""Functions whose result depends on the class alone."""
_ITEMS = frozenset({operator.getitem, operator.setitem, operator.delitem})
_IDENTITY = frozenset({operator.is_, operator.is_not})
_KEEPING = frozenset({
    bool, operator.truth, operator.not_, isinstance, getattr, hasattr, setattr, list, tuple, dict, slice, len, sum, min,
    max, any, all, sorted, math.prod, zip, enumerate, map, filter, reversed, iter, next, functools.reduce,
    partial, itertools.accumulate, itertools.chain, itertools.combinations, itertools.compress,
    itertools.dropwhile, itertools.filterfalse, itertools.groupby, itertools.islice, itertools.pairwise,
    itertools.permutations, itertools.product, itertools.starmap, itertools.takewhile, itertools.zip_longest,
})  # fmt: skip
"""Functions that forward items, add, multiply or compare them; where C needs an int it asks the extent for one."""
_KEEPING_METHODS = frozenset(method.__name__ for method in (
    list.__iter__, list.__len__, list.__reversed__, list.append, deque.appendleft, list.copy, list.count, list.extend,
    deque.extendleft, list.index, list.insert, dict.items, dict.keys, list.remove, list.reverse, GeneratorType.send,
    list.sort, dict.values,
))  # fmt: skip
"""Such methods of lists, tuples, deques, dicts and generators."""
_KEEPING_MODULES = frozenset({Shape.__module__, SymbolicSize.__module__})
_MAKING_CONFIGS = frozenset({create_sharded_memory_config, ShardSpec, NdShardSpec, UnaryWithParam})
"""Functions that keep numbers in keywords too: the sizes of a shard are extents, its cores are ints."""

_OPERANDS = frozenset(
    {Extent, SymbolicFloat, int, float, bool, list, tuple, Shape, SymbolicSize, ProgramTensor, type(None)}
)
_COMPARED = _OPERANDS | {str}


def arguments_for(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments with which `function`, a part of Python, is computed: extents where it keeps them, else ints."""
    if function in _IDENTITY:
        both_numbers = all(isinstance(value, (int, float)) for value in args) and args[0] is not args[1]
        return [*map(plain, args)] if both_numbers else args, kwargs
    if function in _OF_CLASSES:
        return [*map(of_same_class, args)], kwargs
    if function in _ITEMS:
        return [*args[:1], *_key_of(args), *args[2:]], kwargs
    if function is operator.contains:
        return args if is_a(args[0], list, tuple) else [args[0], *map(plain, args[1:])], kwargs
    if function not in _MAKING_CONFIGS:
        kwargs = {name: plain(value) for name, value in kwargs.items()}
    return args if _keeps(function, args) else [*map(plain, args)], kwargs


def _key_of(args: Sequence[Any]) -> Sequence[Any]:
    return args[1:2] if args and is_a(args[0], ProgramTensor) else [*map(plain, args[1:2])]


def _keeps(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    if function in _ARITHMETIC or function in _COMPARISONS:
        known = _COMPARED if function in _COMPARISONS else _OPERANDS
        return all(type(value) in known or is_a(value, ProgramTensor) for value in args)
    if function in _WHOLE:
        return len(args) == 1 and not isinstance(args[0], float)
    if function in _OF_FLOATS:
        return len(args) == 1 and is_of_trace(args[0])
    return (
        function in _KEEPING or function in _MAKING_CONFIGS or getattr(function, "__module__", None) in _KEEPING_MODULES
    )


def _unchanged(value: Any) -> Any:
    return value


def implementation_of(function: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    """`function`, or its equivalent for these arguments where C's would need an int."""
    if function in _WHOLE and len(args) == 1 and is_extent(args[0]):
        return _unchanged
    if function in _OF_FLOATS and len(args) == 1 and is_of_trace(args[0]):
        return partial(applied, function)
    return type(args[0]).__len__ if function is len and args and is_a(args[0], ProgramTensor) else function


def arguments_of_method(name: str, values: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Any]:
    """As `arguments_for`, of a builtin method on the first of `values`."""
    owner, others = values[:1], values[1:]
    if owner and not is_a(owner[0], list, tuple, dict):
        owner = [*map(plain, owner)]
    if name == "__setitem__":
        others = [*map(plain, others[:1]), *others[1:]]
    elif name not in _KEEPING_METHODS:
        others = [*map(plain, others)]
    return [*owner, *others], {name: plain(value) for name, value in kwargs.items()}


# --- Locations ------------------------------------------------------------------------------------------------------


@contextmanager
def locating_uses(arguments: Mapping[str, Any], emitter: AbstractEmitter) -> Iterator[None]:
    """Within the context, uses that fix an extent are described by the user's expression and its location."""
    trace = _trace_of(arguments)
    if trace is None:
        yield
        return
    trace.located = lambda use: _described(emitter, use)
    try:
        yield
    finally:
        trace.located = str


def _trace_of(arguments: Mapping[str, Any]) -> Trace | None:
    given = leaves([*arguments.values()])
    extents: Iterator[Any] = (
        extent
        for leaf in given
        for extent in (leaf.spec.shape if isinstance(leaf, TensorArgument) else (leaf,))
        if is_of_trace(extent)
    )
    found = next(extents, None)
    return None if found is None else found.trace


def _described(emitter: AbstractEmitter, use: str) -> str:
    location = emitter.location()
    text = source_text(location)
    return f"{use} at {location}" if not text else f"`{text}` at {location.file}:{location.line}"
