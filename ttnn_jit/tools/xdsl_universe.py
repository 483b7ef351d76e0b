"""The dialects and passes for the commands of xDSL, which find them by the entry point ``xdsl.universe``.

xDSL refuses to start if a name is defined twice: it keeps its own `affine`, `canonicalize` and `cse`. Each start of a
command of xDSL imports this file, which imports the compiler only on demand.
"""

from __future__ import annotations

from functools import partial

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from ttnn_jit.transforms.stage_order import STAGE_ORDER

DIALECTS = ("d2m", "ttcore", "ttir", "ttnn")
XDSL_PASSES = ("canonicalize", "cse")
PASSES = tuple(stage for stage in STAGE_ORDER if stage not in XDSL_PASSES)


def _dialect(name: str) -> Dialect:
    from ttnn_jit.dialects import context

    return next(dialect for dialect in context().loaded_dialects if dialect.name == name)


def _pass(name: str) -> type[ModulePass]:
    from ttnn_jit.specs.options import CompileOptions
    from ttnn_jit.transforms.pipeline import stage_passes

    return next(type(stage) for stage in stage_passes(CompileOptions()) if stage.name == name)


UNIVERSE = Universe(
    all_dialects={name: partial(_dialect, name) for name in DIALECTS},
    all_passes={name: partial(_pass, name) for name in PASSES},
)
