"""The HTML page of a report of comparisons: wrong results first, the worst on top."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode

_COLUMNS = (
    "number", "operation", "mode", "output", "device", "status", "pcc", "max_ulp", "allclose", "differing_nans",
    "first_nan", "shape", "dtype", "bound", "program", "thread", "process", "test",
)  # fmt: skip
_DETAILS = ("source", "reason", "location", "tensors")
"""Fields below the others of a record, over the whole width: long texts."""
_WRAPPED_COLUMNS = frozenset({"test", "program", "operation"})
_VARYING_COLUMNS = frozenset({"thread", "process", "output", "differing_nans"})
"""Columns that are shown only where their values differ."""

_STYLE = """\
:root{color-scheme:light dark}
body{font-family:system-ui,sans-serif;margin:1rem;line-height:1.35}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 1rem;font-size:.9rem}
dt{font-weight:600}
dd{margin:0;overflow-wrap:anywhere}
.scrolled{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem}
td,th{padding:3px 8px;text-align:left;vertical-align:top;white-space:nowrap}
tbody{border-bottom:1px solid #8884}
.number{text-align:right;font-variant-numeric:tabular-nums}
.long{white-space:normal;overflow-wrap:anywhere;min-width:9rem;max-width:20rem}
.details{white-space:normal;overflow-wrap:anywhere;position:sticky;left:8px;width:fit-content}
.details{max-width:calc(100vw - 4rem);white-space:pre-line}
.bad{background:#e5393533}
.unjudged{background:#8882}
details{margin:1rem 0}
summary{font-size:1.2rem;font-weight:600;cursor:pointer}"""
"""The table scrolls by itself, and long texts stay in view below their record, also in a narrow window."""

_LEGEND = (
    "isolated: compared with the golden of the operands that the operation had; accumulated: compared with a chain of "
    "goldens from the first operation on; whole: a program, such as a jitted function, compared with its operations "
    "one by one. bound: the allowed difference; max_ulp: the largest distance, in units in the last place of the "
    "result; differing_nans: the number of elements that are NaN in one of the two alone, the first at first_nan."
)


def page(records: Sequence[ComparisonRecord]) -> Iterator[str]:
    """The lines of the page: records that differ, the worst first; records that were not judged; all in order."""
    bad = sorted((record for record in records if record.matches is False), key=_severity, reverse=True)
    unjudged = [record for record in records if record.matches is None]
    yield "<!DOCTYPE html><html lang=en><meta charset='utf-8'>"
    yield "<meta name=viewport content='width=device-width, initial-scale=1'>"
    yield f"<title>Comparison with goldens</title><style>{_STYLE}</style>"
    yield f"<h1>{_title(len(records) - len(unjudged), len(bad))}</h1>"
    yield from _facts(records)
    yield f"<p>{_LEGEND}</p>"
    if bad:
        yield from _table("These differ, the worst first", bad)
    if unjudged:
        yield from _table("These were not compared", unjudged)
    yield from _table("All, in order", records, is_open=not bad and not unjudged)


def _title(compared: int, bad: int) -> str:
    if not compared:
        return "No result was compared with a golden"
    return f"{bad} of {compared} results differ from their goldens" if bad else f"All {compared} results are right"


def _facts(records: Sequence[ComparisonRecord]) -> Iterator[str]:
    """Date, targets, programs and outcomes of all records."""
    times = sorted(record.time for record in records if record.time)
    yield "<dl>"
    first_and_last = dict.fromkeys(f"{each[:10]} {each[11:19]}" for each in (times[:1] + times[-1:]))
    yield from _fact("date", [f"{' to '.join(first_and_last)} UTC"] if times else [])
    yield from _fact("targets", _counted(record.target for record in records))
    yield from _fact("programs", _counted(record.program for record in records))
    yield from _fact("outcomes", _counted(str(record.status) for record in records))
    yield "</dl>"


def _counted(values: Iterator[str]) -> list[str]:
    return [f"{value} ({count})" for value, count in Counter(filter(None, values)).most_common()]


def _fact(name: str, values: Sequence[str]) -> Iterator[str]:
    if values:
        yield f"<dt>{name}</dt><dd>{escape(', '.join(values))}</dd>"


def _severity(record: ComparisonRecord) -> tuple[bool, int, float]:
    """The sort key: differences of one operation before those of a chain; then by NaN, then by distance."""
    is_alone = record.mode is not Mode.ACCUMULATED
    return is_alone, record.differing_nans, math.inf if record.max_ulp is None else record.max_ulp


def _table(title: str, records: Sequence[ComparisonRecord], *, is_open: bool = True) -> Iterator[str]:
    columns = [column for column in _COLUMNS if _is_shown(column, records)]
    yield f"<details{' open' if is_open else ''}><summary>{title}</summary><div class=scrolled>"
    yield f"<table><thead><tr>{''.join(f'<th>{column}</th>' for column in columns)}</tr></thead>"
    for record in records:
        cells = "".join(_cell(column, getattr(record, column)) for column in columns)
        yield f"<tbody{_CLASSES[record.matches]}><tr>{cells}</tr>{_details(record, len(columns))}</tbody>"
    yield "</table></div></details>"


def _details(record: ComparisonRecord, columns: int) -> str:
    """The row of long texts; the line of the source is code."""
    texts = [escape(getattr(record, name)) for name in _DETAILS if getattr(record, name)]
    if record.source:
        texts[0] = f"<code>{texts[0]}</code>"
    shown = "\n".join(texts)
    return f"<tr><td colspan={columns}><div class=details>{shown}</div></td></tr>" if shown else ""


def _is_shown(column: str, records: Sequence[ComparisonRecord]) -> bool:
    values = {getattr(each, column) for each in records}
    return len(values) > 1 if column in _VARYING_COLUMNS else bool(values - {None, "", ()})


_CLASSES = {True: "", False: " class=bad", None: " class=unjudged"}


def _cell(column: str, value: object) -> str:
    """A table cell: numbers right-aligned with eight digits (the JSON has all), None as an empty cell."""
    match value:
        case bool():
            return f"<td>{'yes' if value else 'no'}</td>"
        case int() | float():
            return f"<td class=number>{value:.8g}</td>"
        case None:
            return "<td></td>"
        case tuple():
            return f"<td>{'x'.join(map(str, value)) if column == 'shape' else list(value)}</td>"
        case _:
            return f"<td{' class=long' if column in _WRAPPED_COLUMNS else ''}>{escape(str(value))}</td>"
