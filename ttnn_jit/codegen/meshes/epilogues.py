"""Loops that are fused across a collective: what reads the result of a fold alone is computed in the fold's loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence

from ttnn_jit.codegen.fusion.loop_fusion import fused_with_reader
from ttnn_jit.codegen.schedules.host_plan import HostLaunch
from ttnn_jit.codegen.schedules.kernel import LoopNest
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import replace


class Epilogues:
    """The launches of a collective and those that read its results, fused where that is possible.

    Args:
        launches: The launches of the collective, which are not scheduled yet.
        readers: Scheduled launches that read its results.
        needed: Values that something else reads.
        later: Values that are written after the collective.

    Attributes:
        launches: The launches of the collective, some with an epilogue.
        readers: The other readers.
        written: The results of the epilogues.
        dropped: The results of the collective that no launch writes any more.
    """

    def __init__(
        self,
        launches: Sequence[HostLaunch],
        readers: Sequence[HostLaunch],
        needed: Container[PlanValue],
        later: Container[PlanValue],
    ) -> None:
        self.launches = [*launches]
        self.readers: list[HostLaunch] = []
        self.written: set[PlanValue] = set()
        self.dropped: set[PlanValue] = set()
        self._needed, self._later = needed, later
        self._reading = defaultdict[PlanValue, int](int)
        for launch in (*launches, *readers):
            for value in {operand.value for operand in launch.bound.inputs}:
                self._reading[value] += 1
        for reader in readers:
            if not self._fuse(reader):
                self.readers.append(reader)

    def _fuse(self, reader: HostLaunch) -> bool:
        """Whether a reader became the epilogue of a fold."""
        for index, value in self._folds_read_by(reader):
            fold = self.launches[index]
            is_needed = value in self._needed
            if self._reading[value] > 1 or self._reads_later_values(reader, index):
                continue
            fused = fused_with_reader(fold.bound, reader, keeps=is_needed)
            if fused is not None:
                self.launches[index] = replace(fold, ops=(*fold.ops, *reader.ops), bound=fused)
                self.written.update(output.value for output in reader.bound.outputs)
                self.dropped |= set() if is_needed else {value}
                return True
        return False

    def _reads_later_values(self, reader: HostLaunch, index: int) -> bool:
        """Whether a launch reads what is written after the launch of this index."""
        after = {output.value for launch in self.launches[index + 1 :] for output in launch.bound.outputs}
        return any(each.value in after or each.value in self._later for each in reader.bound.inputs)

    def _folds_read_by(self, reader: HostLaunch) -> Iterator[tuple[int, PlanValue]]:
        """The folds whose result a launch reads: their indices, and the results."""
        read = {operand.value for operand in reader.bound.inputs}
        for index, launch in enumerate(self.launches):
            bound = launch.bound
            if isinstance(bound.kernel, LoopNest) and not bound.body.only_moves and len(bound.outputs) == 1:
                value = bound.outputs[0].value
                if value in read and len(launch.ops) == 1:
                    yield index, value


def may_be_epilogue(launch: HostLaunch) -> bool:
    """Whether a scheduled launch can be written anew as a part of another."""
    is_split = launch.blocks is not None or launch.rounds or launch.converts is not None
    kernel = launch.bound.kernel
    return (
        not is_split
        and isinstance(kernel, LoopNest)
        and not kernel.body.only_moves
        and not any(stream.dtype.is_block_float for stream in kernel.streams)
    )
