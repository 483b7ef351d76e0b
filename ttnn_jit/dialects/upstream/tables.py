"""The rows of the tables: facts of operations, attributes, types and enums of the dialects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ttnn_jit.process.dataclass import dataclass

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Value:
    """An operand or a result, as it is declared.

    Attributes:
        name: Its name; "_" if it has none.
        count: "" for one value, "?" for an optional one, "*" for any number.
        constraint: The name of the constraint on its type.
    """

    name: str
    count: str
    constraint: str


@dataclass(frozen=True)
class Attribute:
    """An attribute of an operation, as it is declared.

    Attributes:
        is_optional: Whether it may be absent; one with a default may be too.
        kind: The name of its constraint, of its enum, or of the attribute that it is.
        default: Its default in C++; "" for none.
    """

    name: str
    is_optional: bool
    kind: str
    default: str


@dataclass(frozen=True)
class OperationRow:
    """An operation in one version or several.

    Attributes:
        versions: "1" for December 2025, "2" for August 2026; "+" for another project's.
        format: Its assembly format; "C++" if C++ parses it, "" if it has none.
        traits: Its traits that say something of types, regions or terminators; "verified" if C++ verifies it.
    """

    name: str
    versions: str
    operands: tuple[Value, ...]
    attributes: tuple[Attribute, ...]
    results: tuple[Value, ...]
    regions: tuple[Value, ...]
    successors: tuple[str, ...]
    format: str
    traits: tuple[str, ...]

    def has(self, trait: str) -> bool:
        """Whether the operation has a trait of that name."""
        return trait in self.traits


@dataclass(frozen=True)
class Parameter:
    """A parameter of an attribute or type.

    Attributes:
        cpp_type: Its type in C++, without the namespaces mlir, llvm and tt.
        default: Its default in C++; "" if it must be given.
    """

    name: str
    cpp_type: str
    default: str


@dataclass(frozen=True)
class AttributeRow:
    """An attribute or type in one version or several.

    Attributes:
        cpp_class: The name of its class, by which parameters of other attributes refer to it.
    """

    is_type: bool
    name: str
    versions: str
    cpp_class: str
    parameters: tuple[Parameter, ...]
    format: str
    traits: tuple[str, ...]


@cache
def _lines(table: str, key_columns: int) -> dict[str, list[list[str]]]:
    """Key -> the columns of its rows, the newest version first."""
    found: dict[str, list[list[str]]] = {}
    for line in (_FOLDER / table).read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            columns = line.split("\t")
            found.setdefault("\t".join(columns[:key_columns]), []).append(columns[key_columns:])
    return found


@cache
def operation_rows(name: str) -> tuple[OperationRow, ...]:
    """The rows of an operation, the newest version first; empty if there is no such operation."""
    return tuple(_operation_row(name, *columns) for columns in _lines("operations.tsv", 1).get(name, ()))


def operation_names() -> Iterator[str]:
    """The names of all operations."""
    return iter(_lines("operations.tsv", 1))


def operation_class_name(name: str) -> str:
    """The class of C++ of an operation: ``AddOp`` for ``ttir.add``."""
    known = _lines("operation_classes.tsv", 1).get(name)
    if known is not None:
        return known[0][0]
    words = name.partition(".")[2].replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Op"


def attribute_names() -> Iterator[tuple[bool, str]]:
    """Whether it is a type, and the name, of all attributes and types."""
    return ((key[0] == "T", key[2:]) for key in _lines("attributes.tsv", 2))


def _operation_row(  # noqa: PLR0913, PLR0917 - one argument per column
    name: str,
    versions: str,
    operands: str,
    attributes: str,
    results: str,
    regions: str,
    successors: str,
    form: str,
    traits: str,
) -> OperationRow:
    return OperationRow(
        name,
        versions,
        tuple(map(_value, operands.split())),
        tuple(map(_attribute, attributes.split())),
        tuple(map(_value, results.split())),
        tuple(map(_value, regions.split())),
        tuple(successors.split()),
        form,
        tuple(traits.split()),
    )


def _value(text: str) -> Value:
    name, _, constraint = text.partition(":")
    count = name[-1] if name[-1] in "?*" else ""
    return Value(name.removesuffix(count) if count else name, count, constraint)


def _attribute(text: str) -> Attribute:
    name, _, rest = text.partition(":")
    kind, _, default = rest.partition("=")
    return Attribute(name.removesuffix("?"), name.endswith("?"), kind, default)


@cache
def attribute_rows(name: str, *, is_type: bool) -> tuple[AttributeRow, ...]:
    """The rows of an attribute or type, the newest version first; empty if there is none of that name."""
    key = f"{'T' if is_type else 'A'}\t{name}"
    return tuple(_attribute_row(name, is_type, *columns) for columns in _lines("attributes.tsv", 2).get(key, ()))


def _attribute_row(
    name: str, is_type: bool, versions: str, cpp_class: str, parameters: str, form: str, traits: str
) -> AttributeRow:
    known = tuple(_parameter(text) for text in parameters.split(";") if text)
    return AttributeRow(is_type, name, versions, cpp_class, known, form, tuple(traits.split()))


def _parameter(text: str) -> Parameter:
    name, _, rest = text.partition(":")
    cpp_type, _, default = rest.partition("=")
    return Parameter(name.removesuffix("?"), _without_namespaces(cpp_type), default)


def _without_namespaces(cpp_type: str) -> str:
    return re.sub(r"(?:::)?\b(?:mlir|llvm|tt|std)::|(?<![\w:])::", "", cpp_type)


@cache
def _names_by_class() -> dict[str, list[tuple[str, bool]]]:
    found: dict[str, list[tuple[str, bool]]] = {}
    for key, rows in _lines("attributes.tsv", 2).items():
        for columns in rows:
            if (entry := (key[2:], key[0] == "T")) not in found.setdefault(columns[1], []):
                found[columns[1]].append(entry)
    return found


@cache
def attribute_of_class(cpp_class: str, dialect: str) -> tuple[str, bool] | None:
    """The name of the attribute whose class a dialect's C++ calls `cpp_class`, and whether it is a type."""
    namespace, _, last = cpp_class.rpartition("::")
    candidates = _names_by_class().get(last, [])
    wanted = (namespace or dialect, dialect, "ttcore")
    for each in wanted:
        for name, is_type in candidates:
            if name.partition(".")[0] == each:
                return name, is_type
    return candidates[0] if candidates else None


@cache
def enum_cases(cpp_name: str, dialect: str) -> tuple[str, ...] | None:
    """The keywords of the enum that a dialect's C++ calls `cpp_name`, in all versions; None if it is no enum."""
    suffix = cpp_name.rpartition("::")[2]
    candidates = [key for key in _lines("enums.tsv", 1) if key.rpartition("::")[2] == suffix]
    if not candidates:
        return None
    namespace = cpp_name.rpartition("::")[0].rpartition("::")[2] or dialect
    found = min(candidates, key=lambda key: (f"::{namespace}::" not in key, "::ttcore::" not in key))
    cases = [case for columns in _lines("enums.tsv", 1)[found] for case in columns[1].split(" ")]
    return tuple(dict.fromkeys(case.partition("=")[2] for case in cases))


@cache
def constraint(name: str) -> tuple[str, str]:
    """The summary of a constraint, and the type that it implies in C++; both may be empty."""
    rows = _lines("constraints.tsv", 1).get(name)
    return (rows[0][0], rows[0][1]) if rows else ("", "")


@cache
def enum_values(cpp_name: str, dialect: str) -> dict[str, int]:
    """The keywords of the enum that a dialect's C++ calls `cpp_name`, with their numbers."""
    suffix = cpp_name.rpartition("::")[2]
    candidates = [key for key in _lines("enums.tsv", 1) if key.rpartition("::")[2] == suffix]
    found = min(candidates, key=lambda key: (key != cpp_name, f"::{dialect}::" not in key))
    cases = [case for columns in reversed(_lines("enums.tsv", 1)[found]) for case in columns[1].split(" ")]
    return {word: int(number) for number, _, word in (case.partition("=") for case in cases)}
