"""A text of another compiler as a Python program of ttnn calls, with its constants beside it."""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path

from ttnn_jit.compiler.texts.translated_programs import INLINE_NUMBERS, TranslatedText, on_chip, translated
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.complete_file import complete_file
from ttnn_jit.tools.texts.run_text import chosen_entries


def translated_text(options: argparse.Namespace, text: str, name: str) -> TranslatedText:
    """The program of every entry point of a text.

    Raises:
        CompileError: An op has no call in ttnn.
    """
    on_mesh = options.mesh is None or math.prod(map(int, options.mesh.split("x"))) > 1
    return translated(chosen_entries(options, text, name, partial(on_chip, on_mesh=on_mesh)))


def write_constants(program: TranslatedText, output: Path | None) -> None:
    """Writes the constants of a program beside it.

    Raises:
        ArgumentError: The program is printed, and has constants that lie in a file.
        OSError: The file cannot be written.
    """
    if not program.constants:
        return
    if output is None:
        raise ArgumentError(
            f"the program has constants of more than {INLINE_NUMBERS} numbers, which lie in a file beside it",
            help="name the program's file by -o",
        )
    import torch

    with complete_file(output.with_suffix(".pt")) as file:
        torch.save(dict(program.constants), file)
