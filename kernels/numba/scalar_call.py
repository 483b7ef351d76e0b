"""Users' functions that could not be traced: numba compiles them to scalar code, which every backend calls.

In native code the function is called for each lane of a vector. The function sees float32 and
follows numba's rules, by which arithmetic with a Python float is float64; its result is rounded to float32 once.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.source import Location, codes_in, definition_of, whole_line
from ttnn_jit.kernels.llvm.function import Parameter
from ttnn_jit.kernels.llvm.types import FLOAT
from ttnn_jit.kernels.numba.numba_entry import numba_entry
from ttnn_jit.ops.language.rebind import rebind
from ttnn_jit.ops.language.tile_body import ScalarFunction

_OPTIONS: Mapping[str, Any] = {"error_model": "numpy", "fastmath": False, "boundscheck": False}
_WITHOUT_ENTRIES: Mapping[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Of what neither Python nor C calls: these take longer to compile than short functions do."""

_REGISTERED: dict[str, ScalarFunction] = {}


def register(function: ScalarFunction) -> str:
    """Makes `function` known, and returns the name under which generated Python imports it from this module."""
    _REGISTERED[function.symbol] = function
    return function.symbol


def __getattr__(name: str) -> Any:
    if name not in _REGISTERED:
        raise AttributeError(f"no tile operation of this process is called {name!r}")
    return checked(_REGISTERED[name])


@cache
def compiled(function: ScalarFunction) -> Callable[..., Any]:
    """The function, from float32 to float32, as numba's dispatcher."""
    from numba import njit

    operands = ", ".join(f"a{k}" for k in range(len(function.parameters)))
    scope: dict[str, Any] = {"function": _jitted(function)}
    text = f"from numpy import float32\ndef {function.symbol}({operands}):\n    return float32(function({operands}))\n"
    exec(compile(text, f"<ttnn_jit tile operation {function.name}>", "exec"), scope)
    dispatcher: Callable[..., Any] = njit(**_OPTIONS, no_cfunc_wrapper=True)(scope[function.symbol])
    return dispatcher


def _jitted(function: ScalarFunction) -> Any:
    """The function for numba, as are the Python functions that it calls: numba takes no others."""
    from numba import njit

    root = function.function
    assert isinstance(root, types.FunctionType), "a tile operation is a Python function"
    known: dict[int, Any] = {id(root): None}

    def replace(value: Any) -> Any:
        if not isinstance(value, types.FunctionType):
            return value
        if id(value) not in known:
            known[id(value)] = None
            known[id(value)] = njit(**_OPTIONS, **_WITHOUT_ENTRIES)(rebind(value, replace))
        if known[id(value)] is None:
            raise _refused(function, "it calls itself", definition_of(value.__code__), "write it as a loop")
        return known[id(value)]

    return njit(**_OPTIONS, **_WITHOUT_ENTRIES)(rebind(root, replace))


@cache
def vectorized(function: ScalarFunction) -> Callable[..., Any]:
    """The function over numpy arrays that broadcast."""
    import numpy as np

    scalar = checked(function)
    return lambda *arrays: np.vectorize(scalar, otypes=[np.float32])(*(np.asarray(a, np.float32) for a in arrays))


@cache
def checked(function: ScalarFunction) -> Any:
    """The function, compiled for float32 operands.

    Raises:
        CompileError: numba refuses it, or it needs what a stored program cannot hold; the location is in its body.
    """
    from numba import types as numba_types
    from numba.core.errors import NumbaError, UnsupportedBytecodeError

    dispatcher: Any = compiled(function)
    try:
        dispatcher.compile((numba_types.float32,) * len(function.parameters))
    except (NumbaError, UnsupportedBytecodeError) as error:
        raise _refused(function, _first_reason(str(error)), _location_in(function, str(error))) from None
    definition = definition_of(function.function.__code__)
    (overload,) = dispatcher.overloads.values()
    if overload.signature.return_type != numba_types.float32:
        raise _refused(function, f"it returns {overload.signature.return_type}, which is no number", definition)
    text, _ = _numba_text_of(function)
    met = re.findall(r'^(?:declare [^@\n]*)?@"?([\w.$]+)', text, re.MULTILINE)
    for prefix, what in _OF_PROCESS.items():
        if any(name.startswith(prefix) for name in met):
            raise _refused(function, f"it needs {what}", definition)
    return dispatcher


@cache
def _numba_text_of(function: ScalarFunction) -> tuple[str, str]:
    from numba import types as numba_types

    dispatcher: Any = compiled(function)
    return numba_text(dispatcher.py_func, numba_types.float32(*[numba_types.float32] * len(function.parameters)))


_OF_PROCESS = {
    "NRT_": "Python's memory management, as lists, dicts, sets and arrays do",
    "Py": "the Python interpreter",
    "_Py": "the Python interpreter",
    "numba_": "a part of numba's runtime",
    "numba.dynamic.": "an address of this process, as functions of ctypes do",
}
"""Prefixes of symbols that machine code in another process would not resolve."""


def _refused(function: ScalarFunction, reason: str, location: Location, way_out: str | None = None) -> CompileError:
    return CompileError(
        f"tile operation `{function.name}` can neither be traced, because {function.reason}, nor compiled by numba: "
        f"{reason}",
        location=location,
        help=way_out or "write it with operators, functions of `math`, and branches on floats",
    )


def _first_reason(text: str) -> str:
    """The first line of numba's `text` that says something of the program."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("Failed in nopython mode")), text.strip())


def _location_in(function: ScalarFunction, text: str) -> Location:
    """The line of the function's body that numba's `text` names, else its definition."""
    code = function.function.__code__
    lines = {line for part in codes_in(code) for _, _, line in part.co_lines() if line}
    named = re.findall(r'"?([^"\n]+)"?, line (\d+):|\(([^()\n]+):(\d+)\)|from (\S+) \((\d+)\)', text)
    locations = [("".join(match[::2]), int("".join(match[1::2]))) for match in named]
    own = [line for file, line in locations if code.co_filename.endswith(file) and line in lines]
    return whole_line(code.co_filename, own[-1]) if own else definition_of(code)


@cache
def llvm_text(function: ScalarFunction) -> str:
    """LLVM text that defines ``float symbol(float, ...)``.

    Raises:
        CompileError: numba refuses the function.
    """
    checked(function)
    text, inner = _numba_text_of(function)
    parameters = [Parameter(f"a{k}", FLOAT) for k in range(len(function.parameters))]
    return f"{text}\n{numba_entry(function.symbol, inner, parameters, FLOAT)}\n"


def numba_text(function: Any, signature: Any, *, is_kernel: bool = False) -> tuple[str, str]:
    """LLVM text of `function`, as numba compiles it for `signature`, and the symbol in it.

    The symbol's function takes where to put the result, where to put an exception, then the arguments; it returns 0
    if nothing was raised.

    Args:
        function: What is compiled.
        signature: Its type.
        is_kernel: Whether it is one of ours, for which kernels/numba/numba_pipeline.py has fewer passes.

    Raises:
        CompileError: numba's vectorizer calls a library of its own.
    """
    from numba.core import compiler
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    from ttnn_jit.kernels.numba.numba_pipeline import KernelCompiler, KernelLibrary, LibraryOfText

    flags = compiler.Flags()
    cpu_target.options.parse_as_flags(flags, {"nopython": True, **_WITHOUT_ENTRIES, **_OPTIONS})
    flags.no_compile = True  # no machine code: it would be read by nobody
    with global_compiler_lock:
        context = cpu_target.target_context
        library = (KernelLibrary if is_kernel else LibraryOfText)(context.codegen(), "kernel")
        made = compiler.compile_extra(
            cpu_target.typing_context,
            context,
            function,
            signature.args,
            signature.return_type,
            flags,
            {},
            library,
            KernelCompiler if is_kernel else compiler.Compiler,
        )
        library.finalize()
    text: str = library.get_llvm_str()
    if "@__svml" in text:
        raise CompileError(
            "numba is set up to call Intel's SVML, which the process that runs a stored program may lack",
            help="set NUMBA_DISABLE_INTEL_SVML=1 before numba is imported",
        )
    # The assembler says what the target is.
    kept = [line for line in text.splitlines() if not line.startswith(("target ", "source_filename", "; ModuleID"))]
    return "\n".join(kept), str(made.fndesc.llvm_func_name)
