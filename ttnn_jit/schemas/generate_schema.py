"""Makes `schema.tsv` from the schemas of tt-mlir.

    python generate_schema.py 1=DEC/include 2=AUG/include

Each argument names a version and the folder that holds ``ttmlir/Target``. The versions are 1, the tree of tt-mlir of
December 2025 (884581870c), and 2, that of August 2026 (19c86fca45).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEADER = (
    "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
    "# Facts of the flatbuffer schemas of tenstorrent/tt-mlir (884581870c, 19c86fca45); made by generate_schema.py, do "
    "not edit.\n"
    "# kind	name	versions	type of an enum	members\n"
)
ROOTS = ("TTNN/binary.fbs", "Common/system_desc.fbs", "TTMetal/binary.fbs")
_COMMENT = re.compile(r"//[^\n]*")
_INCLUDE = re.compile(r'include "ttmlir/Target/([^"]+)"')
_ITEM = re.compile(
    r"namespace (?P<namespace>[\w.]+);"
    r"|(?P<kind>table|struct|union|enum)\s+(?P<name>\w+)\s*(?::\s*(?P<type>\w+))?\s*(?P<flags>\(bit_flags\))?\s*"
    r"\{(?P<body>[^}]*)\}"
    r'|root_type (?P<root>\w+);\s*file_identifier "(?P<identifier>\w+)"'
)
_FOLDED = {"tt.target": "", "tt.target.ttnn": "ttnn.", "tt.target.metal": "metal."}
_NUMBERS = {
    "bool", "byte", "ubyte", "int8", "uint8", "short", "ushort", "int16", "uint16", "int", "uint", "int32", "uint32",
    "long", "ulong", "int64", "uint64", "float", "double", "string",
}  # fmt: skip
_SIZED = {"byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32"}


class Schemas:
    """The declarations of one version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "ttmlir" / "Target"
        self._texts: dict[str, str] = {}
        for root in ROOTS:
            self._load(root)
        self._items = [(namespace, item) for namespace, item in self._declarations()]
        self._names = {f"{namespace}{item['name']}" for namespace, item in self._items if item["name"]}

    def _load(self, path: str) -> None:
        if path in self._texts:
            return
        self._texts[path] = ""
        text = _COMMENT.sub("", (self._folder / path).read_text(encoding="utf-8"))
        for included in _INCLUDE.findall(text):
            self._load(included)
        self._texts[path] = text

    def _declarations(self) -> Iterator[tuple[str, re.Match[str]]]:
        for path in sorted(self._texts):
            namespace = ""
            for item in _ITEM.finditer(self._texts[path]):
                if item["namespace"]:
                    namespace = _FOLDED[item["namespace"]]
                else:
                    yield namespace, item

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Kind and name, the type of an enum, and the members of each declaration."""
        for namespace, item in self._items:
            if item["root"]:
                yield f"root\t{item['identifier']}", "", self._type(item["root"], namespace)
                continue
            members = [each.strip() for each in re.split("[;,]", item["body"]) if each.strip()]
            number = _SIZED.get(item["type"] or "", item["type"] or "")
            head = f"{item['kind']}\t{namespace}{item['name']}"
            match item["kind"]:
                case "enum":
                    yield head, number + (" bit_flags" if item["flags"] else ""), " ".join(_cases(members))
                case "union":
                    yield head, "", " ".join(self._variant(each, namespace) for each in members)
                case _:
                    yield head, "", " ".join(self._field(each, namespace) for each in members)

    def _variant(self, text: str, namespace: str) -> str:
        name, _, type_ = text.partition(":")
        return f"{name.strip()}:{self._type((type_ or name).strip(), namespace)}"

    def _field(self, text: str, namespace: str) -> str:
        name, _, rest = text.partition(":")
        type_, _, default = rest.partition("=")
        spelled = f"{name.strip()}:{self._type(type_.strip(), namespace)}"
        return f"{spelled}={default.strip()}" if default else spelled

    def _type(self, text: str, namespace: str) -> str:
        if text.startswith("["):
            return f"[{self._type(text[1:-1].strip(), namespace)}]"
        if text in _NUMBERS:
            return _SIZED.get(text, text)
        if "." in text:
            scope, _, last = text.rpartition(".")
            return _FOLDED[scope] + last
        return next(each for each in (namespace + text, text) if each in self._names)


def _cases(members: list[str]) -> Iterator[str]:
    number = -1
    for each in members:
        name, _, stated = each.partition("=")
        number = int(stated) if stated else number + 1
        yield f"{number}={name.strip()}"


def main(arguments: list[str]) -> None:
    """Writes the table beside this script."""
    found: dict[str, dict[tuple[str, str], str]] = {}
    for argument in arguments:
        version, _, folder = argument.partition("=")
        for head, type_, members in Schemas(Path(folder)).rows():
            rows = found.setdefault(head, {})
            rows[type_, members] = rows.get((type_, members), "") + version
    lines = [
        f"{head}\t{versions}\t{type_}\t{members}\n"
        for head, rows in sorted(found.items())
        for (type_, members), versions in sorted(rows.items(), key=lambda row: row[1], reverse=True)
    ]
    (Path(__file__).parent / "schema.tsv").write_text(HEADER + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
