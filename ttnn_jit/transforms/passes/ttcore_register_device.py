"""ttcore-register-device: a module gets the target that a file describes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.dialects import set_system_desc
from ttnn_jit.specs.target import read_target


@dataclass(frozen=True)
class TTCoreRegisterDevice(ModulePass):
    """Every stage after it obeys the rules of the description in the file; without a file nothing changes.

    Attributes:
        system_desc_path: The file, as `SYSTEM_DESC_PATH` names one.
    """

    name = "ttcore-register-device"

    system_desc_path: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Replaces the description that stands on the module `op`."""
        if self.system_desc_path:
            set_system_desc(op, read_target(self.system_desc_path))
