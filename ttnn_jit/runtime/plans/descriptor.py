"""What one kernel launch needs of a chip, in the words of a ttnn program descriptor."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any


class ProgramDescriptor(Mapping[str, Any]):
    """One kernel launch, read by key; its values are those of JSON.

    ``kernel`` is the kernel's symbol; ``cbs`` its circular buffers, one for each tensor, with ``access`` (``"alias"``
    of a shard, or ``"stream"``), ``dtype``, ``page_size`` in bytes and ``num_pages``; ``compile_time_args``,
    ``common_runtime_args`` and ``semaphores``; ``grid`` its cores, rows first; ``math_fidelity``, and
    ``fp32_dest_acc_en`` where that is on; ``hidden_inputs``, where there are any, the names of tensors that are no
    arguments of the call, by the number of their circular buffer; ``custom_program_hash`` the program's hash. A program
    of ``compile_only=True`` holds the kernel's text too, ``kernel_source``.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict of JSON values, which shares nothing with the program."""
        return copy.deepcopy(self._fields)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> ProgramDescriptor:
        """The inverse of `to_dict`."""
        return ProgramDescriptor(copy.deepcopy(dict(fields)))

    def __repr__(self) -> str:
        return f"<ProgramDescriptor {self['kernel']}: {len(self['cbs'])} circular buffers>"
