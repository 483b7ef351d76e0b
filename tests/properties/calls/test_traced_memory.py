"""Addresses of tensors that are freed and allocated again follow first fit, and replays read these addresses."""

from __future__ import annotations

import warnings

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn

SHAPE = (32, 224)
LAYOUTS = (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)
SLOTS = 4
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("allocate"), st.integers(0, SLOTS - 1), st.sampled_from(LAYOUTS), st.booleans()),
        st.tuples(st.just("free"), st.integers(0, SLOTS - 1), st.booleans()),
        st.tuples(st.just("write"), st.integers(0, SLOTS - 1)),
        st.tuples(st.just("capture"), st.integers(0, SLOTS - 1), st.integers(0, SLOTS - 1), st.booleans()),
        st.tuples(st.just("replay"), st.integers(0, 3)),
        st.tuples(st.just("release"), st.integers(0, 3)),
        st.tuples(st.just("compute"), st.integers(0, SLOTS - 1)),
        st.tuples(st.just("host tensor")),
    ),
    min_size=8,
    max_size=40,
)


class FirstFit:
    """Memory with blocks of one size, in pure Python. A block that a trace uses takes tensors of one layout."""

    def __init__(self):
        self.contents = []  # block -> its content
        self.owner = []  # block -> slot, or None
        self.layout = []
        self.traces = []  # block -> number of its users

    def allocate(self, slot, layout):
        for block, owner in enumerate(self.owner):
            if owner is None and (not self.traces[block] or self.layout[block] is layout):
                break
        else:
            block = len(self.owner)
            for column in (self.contents, self.owner, self.layout, self.traces):
                column.append(None)
            self.traces[block] = 0
        self.owner[block], self.layout[block] = slot, layout
        return block


class World:
    """The same steps on a device and in the model."""

    def __init__(self):
        self.device = ttnn.open_device(device_id=0)
        self.memory = FirstFit()
        self.tensors = {}
        self.blocks = {}
        self.addresses = {}
        self.traces = []
        self.count = 0

    def numbers(self, layout):
        self.count += 1
        values = torch.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) % 97 + float(self.count)
        return values, ttnn.from_torch(values, layout=layout)

    def allocate(self, slot, layout, filled):
        if slot in self.tensors:
            return
        values, host = self.numbers(layout)
        if filled:
            tensor = ttnn.to_device(host, self.device)
        else:
            tensor = ttnn.allocate_tensor_on_device(SHAPE, ttnn.float32, layout, self.device)
            ttnn.copy_host_to_device_tensor(host, tensor)
        self.tensors[slot], self.blocks[slot] = tensor, self.memory.allocate(slot, layout)
        self.memory.contents[self.blocks[slot]] = values
        at = self.addresses.setdefault(self.blocks[slot], tensor.buffer_address())
        assert tensor.buffer_address() == at

    def free(self, slot, by_name):
        if slot in self.tensors:
            tensor = self.tensors.pop(slot)
            if by_name:
                ttnn.deallocate(tensor)
            self.memory.owner[self.blocks.pop(slot)] = None

    def write(self, slot):
        if slot in self.tensors:
            values, host = self.numbers(self.tensors[slot].layout)
            ttnn.copy_host_to_device_tensor(host, self.tensors[slot])
            self.memory.contents[self.blocks[slot]] = values

    def capture(self, first, second, frees):
        given = [self.tensors.get(slot) for slot in (first, second)]
        if None in given or given[0].layout is not given[1].layout or len(self.traces) == 4:
            return
        trace = ttnn.begin_trace_capture(self.device)
        result = ttnn.subtract(ttnn.multiply(given[0], 2.0), given[1])
        blocks = self.blocks[first], self.blocks[second]
        del given
        if frees:
            self.free(first, by_name=bool(first % 2))
        ttnn.end_trace_capture(self.device, trace)
        for block in {*blocks}:
            self.memory.traces[block] += 1
        self.traces.append((trace, result, blocks))

    def replay(self, number):
        if number < len(self.traces):
            trace, result, blocks = self.traces[number]
            ttnn.execute_trace(self.device, trace)
            a, b = (self.memory.contents[block] for block in blocks)
            assert torch.equal(ttnn.to_torch(result), a * 2.0 - b)

    def release(self, number):
        if number < len(self.traces):
            trace, _, blocks = self.traces.pop(number)
            ttnn.release_trace(self.device, trace)
            for block in {*blocks}:
                self.memory.traces[block] -= 1

    def compute(self, slot):
        if slot in self.tensors:
            kept = [ttnn.neg(self.tensors[slot]) for _ in range(3)]
            assert torch.equal(ttnn.to_torch(kept[-1]), -self.memory.contents[self.blocks[slot]])

    def check(self):
        for slot, tensor in self.tensors.items():
            assert torch.equal(ttnn.to_torch(tensor), self.memory.contents[self.blocks[slot]])


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_random_traces_read_the_memory_that_first_fit_assigns(steps):
    world = World()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of freed tensors
        for name, *arguments in steps:
            if name == "host tensor":
                world.numbers(ttnn.TILE_LAYOUT)
            else:
                getattr(world, name)(*arguments)
            world.check()
    ttnn.close_device(world.device)
