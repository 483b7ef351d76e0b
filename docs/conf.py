"""The documentation as a site: `make site` builds it, with warnings and broken links as errors."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from docs.site_pages import rooms  # noqa: E402
from docs.site_pages.writing import write  # noqa: E402

project = "ttnn_jit"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
exclude_patterns = ["examples", "site_pages"]
suppress_warnings = ["misc.highlighting_failure"]  # excerpts that end in ... do not parse
highlight_language = "text"
html_theme = "furo"
html_title = "ttnn_jit"
html_static_path = ["site_pages/static"]
html_css_files = ["pictures.css"]
html_copy_source = False
html_show_copyright = False  # there is no such line: LICENSE says it
html_theme_options = {"navigation_with_keys": True}


class MlirLexer(RegexLexer):
    """MLIR, as far as dumps of this package use it."""

    name = "MLIR"
    aliases = ("mlir",)
    tokens = {  # noqa: RUF012 - the interface of Pygments
        "root": [
            (r"//.*", Comment),
            (r'"[^"]*"', String),
            (r"[%^][\w.:#]+", Name.Variable),
            (r"[@#!][\w.$-]+", Name.Constant),
            (r"\b(module|func\.func|return|affine_map|loc)\b", Keyword),
            (r"\b(tensor|memref|bf16|f32|i1|[su]?i\d+|index|none)\b", Keyword.Type),
            (r"\b\d+(\.\d+)?(e[+-]?\d+)?\b", Number),
            (r"->|=|:", Operator),
            (r"[\w.$-]+", Text),
            (r"[(){}\[\]<>,]", Punctuation),
            (r"\s+|.", Text),
        ]
    }


def _with_picture(_: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the text of the rooms' picture by an SVG."""
    if docname == "architecture":
        source[0] = rooms.with_picture(source[0])


LINKS = {
    "../CHANGELOG.md": "generated/changelog.md",
    "../CONTRIBUTING.md": "generated/contributing.md",
    "../benchmarks/results/README.md": "generated/results/README.md",
    "../benchmarks/results/compile_costs.md": "generated/results/compile_costs.md",
    "../benchmarks/results/dynamic.md": "generated/results/dynamic.md",
    "../benchmarks/results/meshes.md": "generated/results/meshes.md",
    "../benchmarks/results/scaling.md": "generated/results/scaling.md",
    "examples": "generated/examples/index.md",
    "examples/models": "generated/examples/index.md",
    "examples/meshes": "generated/examples/index.md",
    "site_pages/calls.py": "generated/a_call.md",
    "site_pages/rooms.py": "generated/rooms/index.md",
    "site_pages/stages.py": "generated/a_compile.md",
    "tutorial.ipynb": "generated/tutorial.md",
}
"""File or folder that is no page -> the page that shows it, or that it generates."""


def _with_pages(_: Sphinx, docname: str, source: list[str]) -> None:
    """Insert the README into the first page, and redirect links to files that other pages show."""
    if docname == "index":
        readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
        readme = re.sub(r"\]\((?!docs/|https?:)", "](../", readme).replace("](docs/", "](")
        source[0] = source[0].replace("<!-- README.md -->", readme)
    if "/" not in docname:
        for file, page in LINKS.items():
            source[0] = source[0].replace(f"]({file})", f"]({page})")


def setup(app: Sphinx) -> None:
    """Write the generated pages, before any page is read."""
    write(DOCS / "generated")
    app.add_lexer("mlir", MlirLexer)
    app.connect("source-read", _with_picture)
    app.connect("source-read", _with_pages)
