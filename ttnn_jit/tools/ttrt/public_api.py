"""`ttrt.common.api`: the commands as classes."""

from __future__ import annotations

from typing import ClassVar

from ttnn_jit.tools.ttrt.check_command import Check
from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.emitc_command import EmitC
from ttnn_jit.tools.ttrt.emitpy_command import EmitPy
from ttnn_jit.tools.ttrt.perf_command import Perf
from ttnn_jit.tools.ttrt.query_command import Query
from ttnn_jit.tools.ttrt.read_command import Read
from ttnn_jit.tools.ttrt.run_command import Run


class API:
    """The commands."""

    Query, Read, Run, Perf, Check, EmitPy, EmitC = Query, Read, Run, Perf, Check, EmitPy, EmitC
    registered_apis: ClassVar[dict[str, type[Command]]] = {}

    @staticmethod
    def initialize_apis() -> None:
        """Fills `registered_apis`."""
        for each in (Query, Read, Run, Perf, Check, EmitPy, EmitC):
            API.register_api(each)

    @staticmethod
    def register_api(api_class: type[Command]) -> None:
        """Adds a command."""
        API.registered_apis[api_class.__name__] = api_class
