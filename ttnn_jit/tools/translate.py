"""``ttnn-jit translate --mlir-to-python``: a module of TTNN ops as a Python program of ttnn calls."""

from __future__ import annotations

import argparse
import sys

from ttnn_jit.emitpy import program_of
from ttnn_jit.tools.opt import read_module


def main(options: argparse.Namespace) -> int:
    """Reads the module and writes the program; nothing is written if an op has no call in ttnn."""
    text = program_of(read_module(options.file))
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0
