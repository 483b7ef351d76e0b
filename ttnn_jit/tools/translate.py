"""``ttnn-jit translate``: a module of TTNN ops as a Python program of ttnn calls, or as a binary of tt-mlir."""

from __future__ import annotations

import argparse
import sys

from ttnn_jit.emitpy import program_of
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.tools.opt import read_module, read_text


def main(options: argparse.Namespace) -> int:
    """Reads the module and writes the result; nothing is written if an op has no form in it."""
    if options.ttnn_to_flatbuffer:
        return _to_flatbuffer(options)
    text = program_of(read_module(options.file))
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def _to_flatbuffer(options: argparse.Namespace) -> int:
    from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

    data = Binary.parse(*read_text(options.file)).to_bytes()
    if options.output:
        write_complete(options.output, [data])
    else:
        sys.stdout.buffer.write(data)
    return 0
