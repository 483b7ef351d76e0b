"""``ttrt query``: describes this system."""

from __future__ import annotations

import json
import math
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ProgramFormatError
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS
from ttnn_jit.tools.ttrt.option_parsing import one_line
from ttnn_jit.tools.ttrt.result_files import ERROR, PASS
from ttnn_jit.tools.ttrt.system_comparison import described_system, rules_on_cpu, target_of_json


class Query(Command):
    """Describes the system whose rules this processor follows: that of ``SYSTEM_DESC_PATH``, else a Wormhole.

    Attributes:
        system_desc: The description, after a call.
        device_ids: The numbers of its virtual devices, after a call.
    """

    declaration = COMMANDS["query"]
    system_desc: Any = None
    device_ids: list[int] | None = None

    def execute(self) -> None:
        """Reads the description."""
        try:
            self.system_desc = described_system(self["--target"])
            target = self.target
        except (ArgumentError, ProgramFormatError) as error:
            self.system_desc = self.device_ids = None
            self.log.error("%s", one_line(error))
            self.record(ERROR, one_line(error))
            return
        self.device_ids = list(range(math.prod(target.mesh)))
        if self["--save-artifacts"]:
            self.artifacts.save_system_desc(self.system_desc)
        self.record(PASS, device=rules_on_cpu(target))
        self.log.info("PASS: the system is %s", rules_on_cpu(target))

    @property
    def described(self) -> Any:
        """The description, also before a call."""
        return self.system_desc or described_system(self["--target"])

    @property
    def target(self) -> SystemDesc:
        """The system, also before a call."""
        return target_of_json(self.described.as_json(), "the description")

    def get_system_desc_as_dict(self) -> dict[str, Any]:
        """The description."""
        return dict(json.loads(self.described.as_json()))

    def shown(self) -> str:
        """The description as JSON, unless ``--quiet``."""
        if self["--quiet"] or self.system_desc is None:
            return ""
        return json.dumps(self.get_system_desc_as_dict(), indent=2)
