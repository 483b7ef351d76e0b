"""Rare paths of kernels as object code of their own, which the kernels of a process share.

A kernel's text holds the functions that its rare paths call, so that it can be read and assembled by itself. They are
long and the same in every kernel: of one with a sine, reducing huge arguments is half of the time that LLVM takes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ttnn_jit.kernels.llvm_float import MODULE_BREAK

_RARE = " noinline cold nounwind {"
_DEFINITION = re.compile(
    rf"^define internal (?P<head><[^\n]* @(?P<symbol>[\w.]+)\([^\n]*\)){re.escape(_RARE)}\n.*?^\}}\n",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Parted:
    """A kernel's text without its rare paths, and theirs.

    Attributes:
        kernel: Declares what the rare paths define.
        functions: Symbol, which ends in a hash of the text -> a module with that function.
    """

    kernel: str
    functions: Mapping[str, str]


def parted(text: str) -> Parted:
    """`text` without the rare paths that call no other rare path."""
    if _RARE not in text:
        return Parted(text, {})
    first, *linked = text.split(MODULE_BREAK)
    definitions = {found["symbol"]: found for found in _DEFINITION.finditer(first)}
    declarations = "\n".join(line for line in first.splitlines() if line.startswith("declare "))
    functions: dict[str, str] = {}
    for symbol, found in definitions.items():
        definition = found[0]
        if any(f"@{other}(" in definition for other in definitions if other != symbol):
            continue
        shared = f"{symbol}.{hashlib.sha256(definition.encode()).hexdigest()[:16]}"
        head = re.sub(r" %\w+", "", found["head"])
        first = first.replace(definition, f"declare {head} cold nounwind\n").replace(f"@{symbol}(", f"@{shared}(")
        module = definition.replace("define internal ", "define ", 1).replace(f"@{symbol}(", f"@{shared}(", 1)
        functions[shared] = f"{module}{declarations}\n"
    return Parted(MODULE_BREAK.join([first, *linked]), functions)
