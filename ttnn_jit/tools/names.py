"""``ttnn-jit names``: the names and keywords of ttnn and the support for each, derived from the code."""

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
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops import ABSENT, ALIASES, IN_PLACE, OVERLOADS
from ttnn_jit.ops.public_names import NAMES_OF_SUBMODULES, PUBLIC_NAMES
from ttnn_jit.ops.result_options import HARDWARE_KEYWORDS, RESULT_KEYWORDS
from ttnn_jit.tools import markdown
from ttnn_jit.ttnn.calling.host_function import HostFunction, declaration_of
from ttnn_jit.ttnn.devices import devices
from ttnn_jit.ttnn.namespace.lazy_names import WITHOUT_EFFECT
from ttnn_jit.ttnn.namespace.names_on_demand import declared_functions

COLUMNS = ("name", "here", "meaning, or reason")

Row = tuple[str, str, str]
"""A name or keyword, its support, and the reason or the meaning."""


def main(options: argparse.Namespace) -> int:
    """Prints the table, or the rows of some names, or writes the table between the marks of a Markdown file."""
    if options.write:
        return markdown.renew(options.write, with_table)
    print("\n".join(map(rows_text, options.names)) if options.names else table())
    return 0


def rows_text(name: str) -> str:
    """The rows of the names and keywords that contain `name`, as lines of text.

    Raises:
        ArgumentError: There are none.
    """
    wanted = name.removeprefix("ttnn.").lower()
    found = [row for row in all_rows() if wanted in row[0].partition("(")[0].lower()]
    if not found:
        raise ArgumentError(f"no name of ttnn contains {name!r}")
    return "\n".join(f"{name}\n    {status}{text and ': '}{text}" for name, status, text in found)


def with_table(document: str) -> str:
    """`document` with a new table between its marks.

    Raises:
        ArgumentError: It has no marks.
    """
    return markdown.with_section(document, "names", table())


def all_rows() -> Iterator[Row]:
    """The rows of the table, and one for each name that is not here yet."""
    for rows in _sections().values():
        yield from rows
    yield from _rows_not_yet()


def table() -> str:
    """The table in Markdown."""
    tables = [f"### {title}\n\n{_markdown(rows)}" for title, rows in _sections().items()]
    return "\n\n".join([_how_many(), *tables, _not_yet()])


def _sections() -> dict[str, Iterator[Row]]:
    """Title -> rows."""
    return {
        "Devices, tensors, configs": _namespace(),
        "Operations": _operations(),
        "Names of submodules": _submodules(),
        "Keywords of operations": _operation_keywords(),
        "Keywords of `from_torch` and `to_torch`": _conversion_keywords(),
        "Keywords of functions that have no effect": _host_keywords_without_effect(),
        "Keywords of `open_device`": _device_keywords(),
        "Keywords of `ttnn_jit.jit`": _own_keywords(jit, but="fn"),
        "Refused with AttributeError": _refused(),
    }


def counts() -> dict[str, int]:
    """Kind of support -> the number of ttnn's public names."""
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


_MEANINGS = {
    "honoured": "has ttnn's meaning, in eager calls and, for an operation, inside `@jit`",
    "honoured eagerly": "an alias that works in eager calls; inside `@jit` the error names the operation to write",
    "accepted, no effect": "accepted, so that programs run unchanged; no value depends on it, unless the row says so",
    "refused, with a reason": "AttributeError; the row has the reason",
    "not here yet": "AttributeError; not implemented",
}
"""Kind of support -> its description."""


def _how_many() -> str:
    rows = (f"| {count} | {status} | {_MEANINGS[status]} |" for status, count in counts().items())
    head = f"Of {len(PUBLIC_NAMES)} public names of ttnn, counted in tt-metal of 2026:"
    return "\n".join(["### How many", "", head, "", "| names | here | what this means |", "|---:|---|---|", *rows])


def _names_not_yet() -> list[str]:
    return sorted(PUBLIC_NAMES - set(ttnn.__all__) - set(ABSENT), key=lambda name: (name.lower(), name))


def _rows_not_yet() -> Iterator[Row]:
    for name in [*_names_not_yet(), *sorted(_names_not_yet_of_submodules())]:
        yield f"ttnn.{name}", "not here yet", ""


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
            yield f"ttnn.{name}", "honoured", _summary(getattr(ttnn, name)).replace(f" (ttnn.{name})", "")


def _submodules() -> Iterator[Row]:
    here = {name for name in _names_of_submodules() if name not in _names_not_yet_of_submodules()}
    functions = host_functions()
    for name in sorted((here | {name for name in functions if "." in name}) - set(OVERLOADS)):
        if name in functions and (reason := functions[name].no_effect):
            yield f"ttnn.{name}", "accepted, no effect", reason
        else:
            overloads = OVERLOADS.get(name.rpartition(".")[2])
            text = overloads[0].summary if overloads else _summary(attrgetter(name)(ttnn))
            yield f"ttnn.{name}", "honoured", text.replace(f" (ttnn.{name})", "")


@cache
def _names_not_yet_of_submodules() -> frozenset[str]:
    names = (name.rpartition(".") for name in _names_of_submodules())
    return frozenset(f"{home}.{name}" for home, _, name in names if not hasattr(attrgetter(home)(ttnn), name))


def _names_of_submodules() -> list[str]:
    return sorted(f"{home}.{name}" for home, names in NAMES_OF_SUBMODULES.items() for name in names)


@cache
def without_effect() -> Mapping[str, str]:
    """Name of ttnn that is accepted without effect -> the reason."""
    return WITHOUT_EFFECT | {name: each.no_effect for name, each in host_functions().items() if each.no_effect}


@cache
def host_functions() -> Mapping[str, HostFunction]:
    """Name after ``ttnn.`` -> declaration of a function of the host API."""
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
"""Keyword about the result -> its meaning."""


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
    """The first sentence of a function's or class's docstring; the description of a constant."""
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
        return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    if isinstance(value, ttnn.MemoryConfig):
        return f"{value.memory_layout.name.lower()} in {value.buffer_type.name}"
    return f"`{value}`"


def _argument(function: Any, name: str) -> str:
    """The text of an argument in a docstring."""
    _, _, rest = (inspect.getdoc(function) or "").partition(f"    {name}: ")
    first, *lines = rest.split("\n")
    more = takewhile(lambda line: line.startswith("        "), lines)
    return " ".join([first, *map(str.strip, more)])
