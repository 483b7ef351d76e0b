"""Tables of operations in docs/binaries.md: ``python -m ttnn_jit.tools.binary_tables docs/binaries.md`` renews them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ttnn_jit.binaries.operation_rows import REFUSED_TABLES, operation_union, operations_of_schema
from ttnn_jit.dialects.text_calls.unexecuted_operations import UNEXECUTED
from ttnn_jit.schemas.schema import VERSIONS, schema
from ttnn_jit.tools import markdown

_MONTHS = {"1": "December 2025", "2": "August 2026"}
"""Version of the schema -> the month of tt-mlir's that has it."""


def with_tables(document: str) -> str:
    """`document` with new tables between its marks.

    Raises:
        ArgumentError: It has no marks.
    """
    document = markdown.with_section(
        document, "tables", markdown.table(("schema", "tables", "operations", "read and written", "executed"), counts())
    )
    columns = ("table", "operation", "read and written", "why it is not executed")
    return markdown.with_section(document, "not executed", markdown.table(columns, _not_executed()))


def counts() -> Iterator[tuple[str, str, str, str, str]]:
    """For each version of the schema its tables, the operations that have one, and how many of these are executed."""
    for version in VERSIONS:
        types = schema(version)
        tables = [each for each in operation_union(types).tags if each != "NONE"]
        operations = {each.name: each.variant for each in operations_of_schema(types)}
        kept = [name for name, variant in operations.items() if variant not in REFUSED_TABLES]
        run = [name for name in kept if name not in UNEXECUTED]
        yield _MONTHS[version], str(len(tables)), str(len(operations)), str(len(kept)), str(len(run))


def _not_executed() -> Iterator[tuple[str, str, str, str]]:
    """Tables that are not executed in any version."""
    found = {each.name: each.variant for version in VERSIONS for each in operations_of_schema(schema(version))}
    rows = [(found[name], f"`{name}`", reason) for name, reason in UNEXECUTED.items() if name in found]
    named = {table for table, _, _ in rows}
    rows += [(table, "", f"it is {held}") for table, held in REFUSED_TABLES.items() if table not in named]
    for table, name, reason in sorted(rows):
        yield f"`{table}`", name, "no" if table in REFUSED_TABLES else "yes", reason


if __name__ == "__main__":
    sys.exit(markdown.renew(Path(sys.argv[1]), with_tables))
