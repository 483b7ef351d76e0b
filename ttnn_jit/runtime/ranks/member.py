"""A rank as the others see it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.ranks.rank_environment import Binding, own_binding


@dataclass(frozen=True)
class Member:
    """A rank of a run.

    Attributes:
        rank: Its number.
        host: The name of its machine.
        process: The number of its process there.
        mesh_id: Ranks with one id share a mesh.
        mesh_host_rank: Its position among the ranks that share its mesh.
        version: The version of this package there.
    """

    rank: int
    host: str
    process: int
    mesh_id: int
    mesh_host_rank: int
    version: str

    @staticmethod
    def own(rank: int, binding: Binding | None = None) -> Member:
        """This process, with the binding of its environment if none is given."""
        version = vars(sys.modules["ttnn_jit"])["__version__"]
        return Member(rank, os.uname().nodename, os.getpid(), *(binding or own_binding(rank)), version)

    def to_json(self) -> str:
        """Its fields."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Member:
        """The member that wrote this."""
        return Member(**json.loads(text))

    def __str__(self) -> str:
        return f"rank {self.rank} (process {self.process} on {self.host})"
