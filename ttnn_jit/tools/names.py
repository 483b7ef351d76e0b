"""``ttnn-jit names``: the names and keywords of ttnn and what becomes of each, from the code itself."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import takewhile
from operator import attrgetter
from typing import Any

from ttnn_jit import jit, ttnn
from ttnn_jit.ops import ABSENT, ALIASES, IN_PLACE, OVERLOADS
from ttnn_jit.ops.public_names import PUBLIC_NAMES
from ttnn_jit.ops.result_options import HARDWARE_KEYWORDS, RESULT_KEYWORDS
from ttnn_jit.tools import markdown
from ttnn_jit.ttnn.calling.host_function import HostFunction, declaration_of
from ttnn_jit.ttnn.devices import devices
from ttnn_jit.ttnn.namespace.lazy_names import WITHOUT_EFFECT
from ttnn_jit.ttnn.namespace.names_on_demand import declared_functions

COLUMNS = ("name", "here", "meaning, or reason")

Row = tuple[str, str, str]
"""A name or keyword, what becomes of it, and the reason or the meaning."""


def main(options: argparse.Namespace) -> int:
    """Prints the table, or writes it between the marks of a Markdown file."""
    if options.write:
        return markdown.renew(options.write, with_table)
    print(table())
    return 0


def with_table(document: str) -> str:
    """`document` with the table between its marks renewed.

    Raises:
        ArgumentError: It has no marks.
    """
    return markdown.with_section(document, "names", table())


def table() -> str:
    """The table in Markdown."""
    sections = {
        "Devices, tensors, configs": _namespace(),
        "Operations": _operations(),
        "Keywords of operations": _operation_keywords(),
        "Keywords of `from_torch` and `to_torch`": _conversion_keywords(),
        "Keywords of functions that have no effect": _host_keywords_without_effect(),
        "Keywords of `open_device`": _device_keywords(),
        "Keywords of `ttnn_jit.jit`": _own_keywords(jit, but="fn"),
        "Refused with AttributeError": _refused(),
    }
    tables = [f"### {title}\n\n{_markdown(rows)}" for title, rows in sections.items()]
    return "\n\n".join([_how_many(), *tables, _not_yet()])


def counts() -> dict[str, int]:
    """What becomes of ttnn's public names -> of how many."""
    here = PUBLIC_NAMES & set(ttnn.__all__)
    eager = here & set(ALIASES)
    ignored = here & set(without_effect())
    return {
        "honoured": len(here - eager - ignored),
        "honoured eagerly": len(eager),
        "accepted, no effect": len(ignored),
        "refused, with a reason": len(PUBLIC_NAMES & set(ABSENT)),
        "not here yet": len(_names_not_yet()),
    }


def _how_many() -> str:
    rows = (f"| {count} | {status} |" for status, count in counts().items())
    head = f"Of {len(PUBLIC_NAMES)} public names of ttnn, counted in tt-metal of 2026:"
    return "\n".join(["### How many", "", head, "", "| names | here |", "|---:|---|", *rows])


def _names_not_yet() -> list[str]:
    return sorted(PUBLIC_NAMES - set(ttnn.__all__) - set(ABSENT), key=lambda name: (name.lower(), name))


def _not_yet() -> str:
    listed = ", ".join(f"`{name}`" for name in _names_not_yet())
    head = "AttributeError says so; inside a jitted function, `Function NAME not supported` with that as help."
    return "\n".join(["### Not here yet", "", head, "", *textwrap.wrap(listed, 118, break_long_words=False)])


def _markdown(rows: Iterable[Row]) -> str:
    return markdown.table(COLUMNS, ((f"`{name}`", status, text) for name, status, text in rows))


def _namespace() -> Iterator[Row]:
    reasons = without_effect()
    for name in sorted(set(ttnn.__all__) - set(OVERLOADS) - set(ALIASES) - set(IN_PLACE)):
        if name in reasons:
            yield f"ttnn.{name}", "accepted, no effect", reasons[name]
        else:
            yield f"ttnn.{name}", "honoured", _summary(getattr(ttnn, name))


@cache
def without_effect() -> Mapping[str, str]:
    """Name of ttnn that is accepted -> why it has no effect."""
    return WITHOUT_EFFECT | {name: each.no_effect for name, each in host_functions().items() if each.no_effect}


@cache
def host_functions() -> Mapping[str, HostFunction]:
    """Functions of the host API by the names that users write behind ``ttnn.``, with what they declare."""
    declared = ((name, declaration_of(attrgetter(name)(ttnn))) for name in declared_functions())
    return {name: each for name, each in declared if each is not None}


def _operations() -> Iterator[Row]:
    for name, overloads in sorted(OVERLOADS.items()):
        for operation in overloads:
            yield f"ttnn.{operation.signature}", "honoured", operation.summary
        for alias in sorted(alias for alias, meant in ALIASES.items() if meant == name):
            yield f"ttnn.{alias}", "honoured eagerly", f"refused inside `@jit`, as ttnn.jit does: write `{name}`"
        for written in sorted(written for written, meant in IN_PLACE.items() if meant is overloads):
            if written != name:
                target = overloads[0].operands[overloads[0].written_operand].name
                yield f"ttnn.{written}", "honoured", f"`{name}`, its result written into `{target}`"


def _operation_keywords() -> Iterator[Row]:
    for name in RESULT_KEYWORDS:
        yield name, "honoured", _RESULT_KEYWORDS[name]
    for name in HARDWARE_KEYWORDS:
        yield name, "accepted, no effect", "chooses among ways to compute the same on a chip"


_RESULT_KEYWORDS = {
    **dict.fromkeys(("output_tensor", "optional_output_tensor"), "the result is written into this tensor"),
    "memory_config": "where the result lies; interleaved L1 is DRAM in jitted functions on a chip, with a warning",
    "output_mem_config": "`memory_config`, as older versions have it",
    "dtype": "the element type of the result, rounded to once",
    "activations": "unary operations that the result goes through before it is rounded",
}
"""Keyword about the result -> what it asks."""


def _conversion_keywords() -> Iterator[Row]:
    for function in ("from_torch", "to_torch"):
        for each in host_functions()[function].parameters[1:]:
            status = "accepted, no effect" if each.without_effect else "honoured"
            yield f"{function}({each.name}=)", status, _argument(getattr(ttnn, function), each.name)


def _host_keywords_without_effect() -> Iterator[Row]:
    for name, function in sorted(host_functions().items()):
        for reason in dict.fromkeys(function.without_effect.values()):
            keywords = (f"{each}=" for each, given in function.without_effect.items() if given == reason)
            yield f"{name}({', '.join(keywords)})", "accepted, no effect", reason


def _device_keywords() -> Iterator[Row]:
    yield from _own_keywords(devices.open_device, but="hardware")
    for name in sorted(devices.HARDWARE_SETTINGS):
        yield name, "accepted, no effect", "a setting of hardware that a CPU lacks"


def _own_keywords(function: Any, but: str) -> Iterator[Row]:
    names = (name for name in inspect.signature(function).parameters if name != but)
    yield from ((name, "honoured", _argument(function, name)) for name in names)


def _refused() -> Iterator[Row]:
    for name, reason in sorted(ABSENT.items()):
        yield f"ttnn.{name}", "refused", reason


def _summary(value: Any) -> str:
    """The first sentence of a function's or class's docstring; what a constant is."""
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
        return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    if isinstance(value, ttnn.MemoryConfig):
        return f"{value.memory_layout.name.lower()} in {value.buffer_type.name}"
    return f"`{value}`"


def _argument(function: Any, name: str) -> str:
    """What a docstring says of an argument."""
    _, _, rest = (inspect.getdoc(function) or "").partition(f"    {name}: ")
    first, *lines = rest.split("\n")
    more = takewhile(lambda line: line.startswith("        "), lines)
    return " ".join([first, *map(str.strip, more)])
