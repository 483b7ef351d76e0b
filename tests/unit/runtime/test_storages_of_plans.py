"""Plans whose intermediates share storages: what a run gets, and which plans are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.unit.runtime.kernels import object_code, program, row_major
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.native.launch_groups import Memories
from ttnn_jit.runtime.plans.launches import Launch, Repeat
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.rank_exchanges import Copied, ExchangeCall, Piece, PlanExchange, Transfer
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import BufferType, DataType, TensorSpec

X, Y, FIRST, SECOND, THIRD = range(5)
SMALL, LARGE = row_major(6), row_major(6, 7)


def launch(kernel, *operands, elements=6):
    return Launch(kernel, operands, (elements, *(1 for _ in operands)))


def chain_of(*operands, storages, temps=(SMALL, LARGE, SMALL), **fields):
    """A plan of one input and one output whose launches negate one buffer into another, each row of six."""
    launches = tuple(launch("t_neg", *each) for each in operands)
    return ProgramPlan("chain", (SMALL,), (SMALL,), temps, launches, storages=storages, **fields)


CHAIN = (X, FIRST), (FIRST, SECOND), (SECOND, THIRD), (THIRD, Y)
OF_SIX = (SMALL,) * 3


def test_a_run_gets_one_memory_per_storage():
    plan = ProgramPlan("p", (SMALL,), (SMALL,), (SMALL, LARGE, SMALL, LARGE), (), storages=(0, 0, 1, 1))
    assert plan.memory == (SMALL, SMALL, LARGE, LARGE)
    assert plan.scratch == (LARGE, LARGE)
    assert plan.memory_of == (0, 1, 2, 2, 3, 3)
    assert plan.mixed_memory == {2, 3}
    assert replace(plan, storages=()).memory == plan.buffers
    assert ProgramPlan.from_json(plan.to_json()) == plan
    assert plan.hash != replace(plan, storages=()).hash


def test_a_program_runs_in_its_storages():
    plan = chain_of(*CHAIN, storages=(0, 1, 0), temps=OF_SIX)
    made = Program(plan, {"t_neg": object_code("t_neg")})
    x, y = torch.randn(6), torch.empty(6)
    made.run(x.data_ptr(), y.data_ptr())
    assert torch.equal(y, x)
    assert Program.from_bytes(made.to_bytes()).plan == plan


def test_the_launch_table_names_storages_beside_constants():
    alone = program(SMALL, 1, ("t_double", (X, FIRST)), ("t_double", (FIRST, SECOND)), ("t_neg", (SECOND, Y)), temps=2)
    assert alone.plan.memory == alone.plan.buffers
    memories = Memories.of(chain_of(*CHAIN, storages=(0, 1, 0), temps=OF_SIX))
    assert (memories.memory_of, memories.mixed) == ([0, 1, 2, 3, 2], {2})


REFUSED = {
    "too few numbers": ((0, 1), "2 storages"),
    "a gap": ((0, 2, 1), "numbered"),
    "not from the first": ((1, 0, 0), "numbered"),
    "a negative number": ((0, -1, 1), "numbered"),
    "operands of one launch": ((0, 0, 1), "used together"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_storages_are_refused(case):
    storages, message = REFUSED[case]
    with pytest.raises(InternalError, match=message):
        chain_of(*CHAIN, storages=storages, temps=OF_SIX)


def test_a_buffer_is_not_read_after_its_storage_was_given_away():
    operands = (X, FIRST), (FIRST, SECOND), (X, THIRD), (FIRST, Y)
    chain_of(*operands, storages=(0, 1, 1), temps=OF_SIX)
    with pytest.raises(InternalError, match=f"reads buffer {FIRST} before it is written"):
        chain_of(*operands, storages=(0, 1, 0), temps=OF_SIX)


def test_a_buffer_that_gets_its_storage_back_is_written_as_a_whole():
    again = launch("t_neg", X, FIRST), launch("t_neg", X, THIRD)
    ends = launch("t_neg", THIRD, SECOND), launch("t_neg", FIRST, Y)
    fields = {"inputs": (SMALL,), "outputs": (SMALL,), "intermediates": OF_SIX, "storages": (0, 1, 0)}
    ProgramPlan("p", launches=(*again, ends[0], launch("t_neg", X, FIRST), ends[1]), **fields)
    with pytest.raises(InternalError, match=f"reads buffer {FIRST} before"):
        ProgramPlan("p", launches=(*again, ends[0], launch("t_neg", X, FIRST, elements=5), ends[1]), **fields)


def test_the_buffers_of_a_repeat_share_no_storage():
    """The next round would find what this one left."""
    body = launch("t_neg", X, FIRST), launch("t_neg", FIRST, SECOND), launch("t_neg", SECOND, THIRD)
    rounds = tuple(replace(each, steps=((0, 0),)) for each in body)
    fields = {"inputs": (SMALL,), "outputs": (SMALL,), "intermediates": OF_SIX}
    launches = Repeat(2, rounds), launch("t_neg", THIRD, Y)
    ProgramPlan("p", launches=launches, storages=(0, 1, 2), **fields)
    with pytest.raises(InternalError, match="used together"):
        ProgramPlan("p", launches=launches, storages=(0, 1, 0), **fields)


def test_buffers_in_l1_share_no_storage():
    temps = SMALL, SMALL, TensorSpec((6,), DataType.FLOAT32, SMALL.layout, buffer_type=BufferType.L1)
    with pytest.raises(InternalError, match="in L1"):
        chain_of(*CHAIN, storages=(0, 1, 0), temps=temps)


MESH = MeshDevices(MeshShape(1, 2), (0, 1))
"""Two devices."""


def of_mesh(positions, exchanges=(), storages=(0, 1, 0)):
    """A chain on the first device of two."""
    launches = tuple(launch("t_neg", *each) for each in ((0, 4), (4, 5), (5, 6), (6, 2), (1, 3)))
    fields = {"devices": MESH, "positions": positions, "exchanges": exchanges, "storages": storages}
    return ProgramPlan("mesh", (SMALL,) * 2, (SMALL,) * 2, OF_SIX, launches, **fields)


def test_buffers_of_two_devices_share_no_storage():
    plan = of_mesh((0, 1, 0, 1, 0, 0, 0))
    assert plan.memory_positions == (0, 1, 0, 1, 0, 0)
    with pytest.raises(InternalError, match="several devices"):
        of_mesh((0, 1, 0, 1, 0, 0, 1))


def exchange(read, written):
    call = ExchangeCall("all_gather", ((6,),), "", "")
    return PlanExchange(
        4, call, (Transfer(0, Piece(read, 0, 24)),), (), (Copied(Piece(written, 0, 24), Piece(read, 0, 24)),)
    )


def test_an_exchange_is_of_the_memory_of_its_buffers():
    plan = of_mesh((0, 1, 0, 1, 0, 0, 0), (exchange(6, 2),))
    (own,) = plan.exchanges_in_memory
    assert [each.buffer for each in (*own.read, *own.written)] == [4, 4, 2]
    assert (own.before, own.call, own.numbers) == (4, plan.exchanges[0].call, plan.exchanges[0].numbers)
    assert replace(plan, storages=()).exchanges_in_memory is plan.exchanges


def test_the_buffers_of_an_exchange_share_no_storage():
    with pytest.raises(InternalError, match="used together"):
        of_mesh((0, 1, 0, 1, 0, 0, 0), (exchange(6, 4),))
