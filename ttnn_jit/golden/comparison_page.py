"""The HTML page of a report of comparisons: wrong results first, the worst on top."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from ttnn_jit.golden.comparison_records import ComparisonRecord

_COLUMNS = (
    "number", "operation", "level", "output", "pcc", "max_ulp", "allclose", "differing_nans", "first_nan", "location",
    "reason", "process", "test",
)  # fmt: skip
_WRAPPED_COLUMNS = ("location", "reason", "test")

_STYLE = """\
body{font-family:sans-serif;margin:1rem}
table{border-collapse:collapse;font-size:.9rem}
td,th{padding:2px 8px;text-align:left;vertical-align:top;border-bottom:1px solid #ddd;white-space:nowrap}
th{position:sticky;top:0;background:#fff}
.number{text-align:right;font-variant-numeric:tabular-nums}
.long{white-space:normal;overflow-wrap:anywhere;min-width:12rem}
.bad{background:#fdd}
.unjudged{background:#eee}"""
"""Long locations and reasons wrap, so that the table is little wider than its numbers."""

_LEGEND = (
    "locally: compared with the golden of the operation's own operands; globally: compared with a chain of goldens "
    "from the first operation on; jitted: a jitted function compared with its operations one by one. max_ulp: the "
    "largest distance, in units in the last place of the result; differing_nans: the number of elements that are NaN "
    "in one of the two alone, the first at first_nan."
)


def page(records: Sequence[ComparisonRecord]) -> Iterator[str]:
    """The lines of the page: records that differ, the worst first; records that were not judged; all in order."""
    bad = sorted((record for record in records if record.matches is False), key=_severity, reverse=True)
    unjudged = [record for record in records if record.matches is None]
    yield "<!DOCTYPE html><meta charset='utf-8'><title>Comparison with goldens</title>"
    yield f"<style>{_STYLE}</style>"
    yield f"<h1>{_title(len(records) - len(unjudged), len(bad))}</h1>"
    yield f"<p>{_LEGEND}</p>"
    if bad:
        yield from _table("These differ, the worst first", bad)
    if unjudged:
        yield from _table("These were not compared", unjudged)
    yield from _table("All, in order", records)


def _title(compared: int, bad: int) -> str:
    return f"{bad} of {compared} results differ from their goldens" if bad else f"All {compared} results are right"


def _severity(record: ComparisonRecord) -> tuple[bool, int, float]:
    """The sort key: local differences before those of a chain of operations; then by NaN, then by distance."""
    return record.level != "globally", record.differing_nans, math.inf if record.max_ulp is None else record.max_ulp


def _table(title: str, records: Sequence[ComparisonRecord]) -> Iterator[str]:
    columns = [column for column in _COLUMNS if any(getattr(each, column) not in {None, ""} for each in records)]
    yield f"<h2>{title}</h2><table><tr>{''.join(f'<th>{column}</th>' for column in columns)}</tr>"
    for record in records:
        cells = "".join(_cell(column, getattr(record, column)) for column in columns)
        yield f"<tr{_CLASSES[record.matches]}>{cells}</tr>"
    yield "</table>"


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
        case _:
            return f"<td{' class=long' if column in _WRAPPED_COLUMNS else ''}>{escape(str(value))}</td>"
