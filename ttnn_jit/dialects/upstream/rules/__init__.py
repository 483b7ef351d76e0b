"""What C++ verifies of operations beyond ODS, by families; the messages are tt-mlir's.

`RULES` has the rules of each operation in order. A rule raises `VerifyException` with what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.attention_rules import ATTENTIONS
from ttnn_jit.dialects.upstream.rules.collective_rules import COLLECTIVES
from ttnn_jit.dialects.upstream.rules.contraction_rules import CONTRACTIONS
from ttnn_jit.dialects.upstream.rules.convolution_weight_rules import CONVOLUTION_WEIGHTS
from ttnn_jit.dialects.upstream.rules.creation_rules import CREATIONS
from ttnn_jit.dialects.upstream.rules.encoding_rules import ENCODINGS
from ttnn_jit.dialects.upstream.rules.expert_rules import EXPERTS
from ttnn_jit.dialects.upstream.rules.foreign_code_rules import FOREIGN_CODE
from ttnn_jit.dialects.upstream.rules.grid_rules import GRIDS
from ttnn_jit.dialects.upstream.rules.movement_rules import MOVEMENTS
from ttnn_jit.dialects.upstream.rules.noc_rules import NOC
from ttnn_jit.dialects.upstream.rules.reduction_rules import REDUCTIONS
from ttnn_jit.dialects.upstream.rules.transformer_rules import TRANSFORMERS
from ttnn_jit.dialects.upstream.rules.window_rules import WINDOWS

Rule = Callable[[Operation], None]

_FAMILIES: tuple[Mapping[str, tuple[Rule, ...]], ...] = (
    ATTENTIONS,
    COLLECTIVES,
    CONTRACTIONS,
    CONVOLUTION_WEIGHTS,
    CREATIONS,
    ENCODINGS,
    EXPERTS,
    FOREIGN_CODE,
    GRIDS,
    MOVEMENTS,
    NOC,
    REDUCTIONS,
    TRANSFORMERS,
    WINDOWS,
)

RULES: dict[str, tuple[Rule, ...]] = {
    name: tuple(rule for family in _FAMILIES for rule in family.get(name, ()))
    for name in {name: None for family in _FAMILIES for name in family}
}
"""Name of an operation -> its rules."""
