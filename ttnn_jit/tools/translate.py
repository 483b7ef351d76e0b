"""``ttnn-jit translate``: a module, or a text, as a Python program of ttnn calls, or as a binary of tt-mlir."""

from __future__ import annotations

import argparse
import sys

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.emitpy import is_of_emitpy, program_of, python_of_emitpy
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.process.standard_output import write_output
from ttnn_jit.tools.opt import read_text
from ttnn_jit.tools.pass_remarks import printed_remarks
from ttnn_jit.tools.texts.recognition import is_of_other_compiler, module_of_dump

_REFUSED = {
    "mlir-to-cpp": "no C++ is written",
    "ttkernel-to-cpp": "no C++ is written",
    "ttmetal-to-flatbuffer": "binaries of TTMetal hold kernels in C++, and none is written",
}
"""Languages of ttmlir-translate -> why they are refused."""


def main(options: argparse.Namespace) -> int:
    """Reads the module and writes the result; nothing is written if an op has no form in it.

    Raises:
        ArgumentError: Another language is asked for.
    """
    if options.refused:
        raise ArgumentError(f"--{options.refused}: {_REFUSED[options.refused]} here", help="use --mlir-to-python")
    with printed_remarks():
        return _to_flatbuffer(options) if options.ttnn_to_flatbuffer else _to_python(options)


def _to_python(options: argparse.Namespace) -> int:
    text, name = read_text(options.file)
    if "emitpy." in text and is_of_emitpy(modules := parse_texts(text, name)):
        text = python_of_emitpy(modules)
    elif is_of_other_compiler(text, name):
        from ttnn_jit.tools.texts.translate_text import translated_text, write_constants

        program = translated_text(options, text, name)
        write_constants(program, options.output)
        text = program.source
    else:
        text = program_of(module_of_dump(text, name))
    if options.output:
        write_complete(options.output, [text.encode()])
    else:
        write_output(text)
    return 0


def _to_flatbuffer(options: argparse.Namespace) -> int:
    from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

    data = Binary.parse(*read_text(options.file)).to_bytes()
    if options.output:
        write_complete(options.output, [data])
    elif sys.stdout is not None and sys.stdout.isatty():
        raise ArgumentError("a binary is not written to a terminal", help="`-o program.ttnn` writes a file")
    else:
        write_output(data)
    return 0
