"""Python of a module: `python_source.py` writes TTNN ops as calls of ttnn, `value_text.py` their arguments.

`emitpy_dialect.py` writes modules of the dialect emitpy. The source of a module of TTNN runs with ttnn, and
`@ttnn_jit.jit()` gives the module again (tests/properties/texts/test_emitted_python.py).
"""

from ttnn_jit.emitpy.emitpy_dialect import is_of_emitpy, python_of_emitpy
from ttnn_jit.emitpy.python_source import (
    WrittenFunction,
    identifier,
    indented,
    opened,
    placement,
    program_of,
    python_of,
    write_function,
)

__all__ = [
    "WrittenFunction",
    "identifier",
    "indented",
    "is_of_emitpy",
    "opened",
    "placement",
    "program_of",
    "python_of",
    "python_of_emitpy",
    "write_function",
]
