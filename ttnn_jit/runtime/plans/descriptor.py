"""The ttnn program descriptor of a kernel launch: the resources of a chip that it needs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any


class ProgramDescriptor(Mapping[str, Any]):
    """A mapping that describes one kernel launch; its values are JSON values.

    ``kernel`` is the kernel's symbol. ``cbs`` lists its circular buffers, one for each tensor, with ``access``
    (``"alias"`` of a shard, or ``"stream"``), ``dtype``, ``page_size`` in bytes and ``num_pages``. Further keys are
    ``compile_time_args``, ``common_runtime_args`` and ``semaphores``; ``grid``, its cores, rows first;
    ``math_fidelity``; ``fp32_dest_acc_en`` if it is on; ``hidden_inputs`` if there are any, the names of tensors that
    are not arguments of the call, by the number of their circular buffer; and ``custom_program_hash``, the program's
    hash. A program of ``compile_only=True`` also has the kernel's text, ``kernel_source``.
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
        """A deep copy as a dict of JSON values."""
        return copy.deepcopy(self._fields)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> ProgramDescriptor:
        """The inverse of `to_dict`."""
        return ProgramDescriptor(copy.deepcopy(dict(fields)))

    def __repr__(self) -> str:
        return f"<ProgramDescriptor {self['kernel']}: {len(self['cbs'])} circular buffers>"
