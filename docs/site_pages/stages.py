"""A compile, stage by stage: the text that each one leaves, and how it differs from the one before."""

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
"""Lines of a text that are shown."""
BEHIND = {
    "frontend": "The function is TTNN: one op for each call, with the layouts of its tensors.",
    "host": "The launches that run, over which loops, in which steps: what the host's own compile chose.",
    "codegen": "The kernels as LLVM's text, with the functions of vector math that they call.",
    "assembly": "What the processor runs.",
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
        "The function `cosh` of the README, for the target `wormhole_b0`: the text behind each stage, which "
        "`.ir(x, stage=...)` gives for a function of yours. `ttnn-jit opt` runs stages on such a text, "
        "`ttnn-jit run` executes it.\n"
    )
    arrows = dict(zip(texts, ([name] for name in [*texts][1:]), strict=False))
    yield f"```{{raw}} html\n{pictures.layered(arrows, {name: f'#{name}' for name in texts}, 'the stages')}\n```\n"
    before = ""
    for name, text in texts.items():
        yield f"## {name}\n"
        yield f"{BEHIND.get(name) or _summary(name)}\n"
        yield "The text is the one of the stage before.\n" if text == before else "\n".join(_block(name, text))
        before = text


def _block(name: str, text: str) -> Iterator[str]:
    lines = text.rstrip().splitlines()
    language = {"codegen": "llvm", "assembly": "text", "host": "text"}.get(name, "mlir")
    yield f"```{language}\n" + "\n".join(lines[:LONGEST]) + "\n```\n"
    if len(lines) > LONGEST:
        yield f"... and {len(lines) - LONGEST:,} lines more.\n"


def _summary(stage: str) -> str:
    """What the pass says of itself."""
    (stage_pass,) = parse_passes(stage)
    return (inspect.getdoc(type(stage_pass)) or "").partition("\n\nAttributes:")[0]
