"""ttcore-register-device: sets the target of a module from a file."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.dialects import set_system_desc
from ttnn_jit.specs.target import read_target


@dataclass(frozen=True)
class TTCoreRegisterDevice(ModulePass):
    """Sets the system description of the module, which later stages follow; without a file it does nothing.

    Attributes:
        system_desc_path: Path of the file, in the format of `SYSTEM_DESC_PATH`.
    """

    name = "ttcore-register-device"

    system_desc_path: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Replaces the description of the module `op`."""
        if self.system_desc_path:
            set_system_desc(op, read_target(self.system_desc_path))
