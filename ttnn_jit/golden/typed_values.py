"""Values of JSON beside the annotations of a dataclass: a damaged file is refused where it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
    "float": (float, int, str),
    "None": (type(None),),
    "tuple[int, ...]": (list,),
    "list[int]": (list,),
}
"""Part of an annotation -> classes of JSON's values; infinities and NaN are strings, and enums their values."""


def check_types(kind: type, values: Mapping[str, Any], *, enums: tuple[str, ...] = ()) -> None:
    """Checks that values of JSON are those of fields of a dataclass.

    Args:
        kind: The class, whose annotations are texts.
        values: Field -> value.
        enums: Annotations that are enums of strings.

    Raises:
        ValueError: One has another type; the text names it.
    """
    by_name = {each.name: str(each.type) for each in fields(kind)}
    for name, value in values.items():
        parts = by_name[name].split(" | ")
        classes = [each for part in parts for each in ((str,) if part in enums else _KINDS.get(part, (object,)))]
        is_number = isinstance(value, bool) and bool not in classes
        are_whole = not isinstance(value, list) or all(type(each) is int for each in value)
        if is_number or not isinstance(value, tuple(classes)) or not are_whole:
            raise ValueError(f"`{name}` is {str(value)[:40]!r}, and should be {by_name[name]}")
        if isinstance(value, str) and float in classes and "str" not in parts:
            float(value)


def loaded_object(text: str, kind: str) -> dict[str, Any]:
    """The object of a line of JSON.

    Raises:
        ValueError: It is none; the text says so.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ValueError(f"this is no record of {kind}: {text[:80]!r}")
    return values
