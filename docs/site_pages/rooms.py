"""The rooms of the package: a picture of their imports, and a page for each, from its docstrings.

    python -m docs.site_pages.rooms

renews the picture in docs/architecture.md.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp

from docs.site_pages import pictures

ROOT = Path(__file__).parents[2]
PACKAGE = "ttnn_jit"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- rooms: begin -->", "<!-- rooms: end -->"


def layers() -> list[list[str]]:
    """The rooms from the top down, according to the contract in `pyproject.toml`."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.removeprefix(f"{PACKAGE}.") for name in re.findall(r"[\w.]+", row)] for row in rows]


@cache
def imports() -> grimp.ImportGraph:
    """The graph of imports at run time."""
    return grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)


def needed_by(folder: str) -> dict[str, set[str]]:
    """Part of a folder -> the parts of it that it imports; a part is a folder or a file directly in it."""
    graph = imports()
    parts = graph.find_children(folder)
    owner = {module: part for part in parts for module in (part, *graph.find_descendants(part))}
    found: dict[str, set[str]] = {part: set() for part in parts}
    for module, part in owner.items():
        found[part] |= {owner[other] for other in graph.find_modules_directly_imported_by(module) if other in owner}
    return {_short(part): {*map(_short, others)} - {_short(part)} for part, others in sorted(found.items())}


def needed_by_rooms() -> dict[str, set[str]]:
    """Room -> the rooms that it imports."""
    rooms = {room for row in layers() for room in row}
    return {room: others & rooms for room, others in needed_by(PACKAGE).items() if room in rooms}


def folders_within(folder: str) -> dict[str, set[str]]:
    """Folder -> folders that it imports, within a folder; {} if there are fewer than two, or it is no package."""
    if folder not in imports().modules:
        return {}
    found = {part: others for part, others in needed_by(folder).items() if _is_folder(f"{folder}.{part}")}
    return {part: others & {*found} for part, others in found.items()} if len(found) > 1 else {}


def picture() -> str:
    """The picture of all rooms."""
    needed = needed_by_rooms()
    return pictures.layered(
        needed, {room: f"generated/rooms/{room}.html" for room in needed}, "rooms and their imports"
    )


def mermaid() -> str:
    """The same picture as text that GitHub draws."""
    needed = pictures.reduced(needed_by_rooms())
    arrows = "\n".join(f"  {room} --> {other}" for room in needed for other in sorted(needed[room]))
    return f"```mermaid\ngraph TD\n{arrows}\n```\n"


def with_mermaid(text: str) -> str:
    """The text of docs/architecture.md with the current picture."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{mermaid()}{END}{rest.split(END)[1]}"


def with_picture(text: str) -> str:
    """That text with an SVG picture instead, whose boxes are links."""
    before, rest = text.split(BEGIN)
    return f"{before}```{{raw}} html\n{picture()}\n```{rest.split(END)[1]}"


def pages() -> Iterator[tuple[str, str]]:
    """The page of each room, by its name."""
    needed = needed_by_rooms()
    for room in (room for row in layers() for room in row):
        above = sorted(other for other, others in needed.items() if room in others)
        yield room, "\n".join(_page(room, sorted(needed[room]), above))


def _page(room: str, below: list[str], above: list[str]) -> Iterator[str]:
    yield f"# {room}\n"
    yield f"Imports {_links(below)}. Imported by {_links(above)}.\n"
    yield from _folder(f"{PACKAGE}.{room}", 2)


def _links(rooms: Iterable[str]) -> str:
    return ", ".join(f"[{room}]({room}.md)" for room in rooms) or "none"


def _folder(name: str, level: int) -> Iterator[str]:
    """The docstring of a folder, its folders and its files."""
    yield f"{docstring(name)}\n"
    if within := folders_within(name):
        shown = pictures.layered(within, {}, f"the folders of {name} and their imports")
        yield f"```{{raw}} html\n{shown}\n```\n"
    parts = _parts(name)
    if files := [part for part in parts if not _is_folder(part)]:
        yield "| file | content |\n|---|---|"
        for part in files:
            yield f"| `{_short(part)}.py` | {docstring(part).partition(chr(10))[0].replace('|', chr(92) + '|')} |"
        yield ""
    for part in filter(_is_folder, parts):
        yield f"{'#' * level} {_short(part)}/\n"
        yield from _folder(part, level + 1)


def docstring(module: str) -> str:
    """The docstring of a module; "" for a folder that is no package."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "" if path.exists() else ""


def _parts(folder: str) -> list[str]:
    """The files and folders in a folder, as modules."""
    path = ROOT.joinpath(*folder.split("."))
    found = {file.relative_to(path).parts[0].removesuffix(".py") for file in path.glob("**/*.py")}
    return [f"{folder}.{name}" for name in sorted(found - {"__init__"})]


def _is_folder(module: str) -> bool:
    return ROOT.joinpath(*module.split(".")).is_dir()


def _short(module: str) -> str:
    return module.rpartition(".")[2]


if __name__ == "__main__":
    PAGE.write_text(with_mermaid(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
