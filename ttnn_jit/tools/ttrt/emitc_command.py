"""``ttrt emitc``, which is refused."""

from __future__ import annotations

from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS


class EmitC(Command):
    """Refused: shared libraries of tt-metal drive a chip.

    Raises:
        ArgumentError: Always.
    """

    declaration = COMMANDS["emitc"]
