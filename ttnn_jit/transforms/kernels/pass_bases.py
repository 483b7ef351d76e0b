"""Base classes of passes that run on each function or on each kernel."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m, system_desc_of
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.function_bodies import function_blocks
from ttnn_jit.transforms.kernels.kernel_body import generics


@dataclass(frozen=True)
class FunctionPass(ModulePass):
    """A pass that runs on each function."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Runs on each function of the module `op`."""
        target = system_desc_of(op)
        for block in function_blocks(op):
            self.change(block, target)

    @abstractmethod
    def change(self, block: Block, target: SystemDesc) -> None:
        """Transforms the body of one function of a module for `target`."""


@dataclass(frozen=True)
class KernelPass(ModulePass):
    """A pass that runs on each kernel that is lowered (`kernel_body.generics`)."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Runs on each such kernel of the module `op`."""
        target = system_desc_of(op)
        for generic in generics(op):
            self.change(generic, target)

    @abstractmethod
    def change(self, generic: d2m.GenericOp, target: SystemDesc) -> None:
        """Transforms one kernel of a module for `target`."""
