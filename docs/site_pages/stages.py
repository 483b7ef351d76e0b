"""A compile, stage by stage: the text of each stage, and whether it differs from the previous one."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import torch

import ttnn_jit
from docs.site_pages import pictures
from docs.site_pages.calls import cosh
from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import stages
from ttnn_jit.transforms.pipeline import parse_passes

LONGEST = 120
"""The largest number of lines that are shown of a text."""
BEHIND = {
    "frontend": "The function in TTNN: one op for each call, with the layouts of its tensors.",
    "host": "The launches, with their loops and steps: the choices of the compile for the host.",
    "codegen": "The kernels as LLVM text, with the vector math functions that they call.",
    "assembly": "The machine code.",
}


def page() -> str:
    """All stages of one function on one target."""
    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(torch.zeros(256, 256, dtype=torch.bfloat16), layout=ttnn.TILE_LAYOUT, device=device)
    jitted = ttnn_jit.jit()(cosh)
    texts = {stage: jitted.ir(x, stage=stage) for stage in stages()}
    ttnn.close_device(device)
    return "\n".join(_page(texts))


def _page(texts: dict[str, str]) -> Iterator[str]:
    yield "# A compile, stage by stage\n"
    yield (
        "The function `cosh` of the README, for the target `wormhole_b0`: the text after each stage, as "
        "`.ir(x, stage=...)` returns it for any function. `ttnn-jit opt` runs stages on such a text, "
        "`ttnn-jit run` executes it.\n"
    )
    arrows = dict(zip(texts, ([name] for name in [*texts][1:]), strict=False))
    yield f"```{{raw}} html\n{pictures.layered(arrows, {name: f'#{name}' for name in texts}, 'the stages')}\n```\n"
    before = ""
    for name, text in texts.items():
        yield f"## {name}\n"
        yield f"{BEHIND.get(name) or _summary(name)}\n"
        yield "The text is that of the previous stage.\n" if text == before else "\n".join(_block(name, text))
        before = text


def _block(name: str, text: str) -> Iterator[str]:
    lines = text.rstrip().splitlines()
    language = {"codegen": "llvm", "assembly": "text", "host": "text"}.get(name, "mlir")
    yield f"```{language}\n" + "\n".join(lines[:LONGEST]) + "\n```\n"
    if len(lines) > LONGEST:
        yield f"... and {len(lines) - LONGEST:,} more lines.\n"


def _summary(stage: str) -> str:
    """The docstring of the pass."""
    (stage_pass,) = parse_passes(stage)
    return (inspect.getdoc(type(stage_pass)) or "").partition("\n\nAttributes:")[0]
