"""The pool never allocates memory that is still owned."""

import itertools

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from ttnn_jit.runtime.memory.buffer import BufferPool, class_bytes

MB = 1 << 20
SIZES = st.one_of(st.integers(0, 5000), st.sampled_from([MB - 1, MB, 3 * MB, 9 * MB]))


class Pool(RuleBasedStateMachine):
    """Blocks are allocated, freed and trimmed in any order, under a limit low enough to be reached."""

    owned = Bundle("owned")

    def __init__(self):
        super().__init__()
        self.pool = BufferPool(idle_limit=8 * MB)
        self.blocks = {}
        self.sizes = {}
        self.numbers = iter(range(10**9))

    @rule(target=owned, nbytes=SIZES)
    def take(self, nbytes):
        number = next(self.numbers)
        self.blocks[number] = self.pool.allocate(nbytes)
        self.sizes[number] = nbytes
        return number

    @rule(target=owned, nbytes=SIZES, count=st.integers(2, 40))
    def take_many_and_keep_the_last(self, nbytes, count):
        many = [self.pool.allocate(nbytes) for _ in range(count)]
        number = next(self.numbers)
        self.blocks[number] = many[-1]
        self.sizes[number] = nbytes
        return number

    @rule(number=consumes(owned))
    def drop(self, number):
        del self.blocks[number], self.sizes[number]

    @rule()
    def release_idle(self):
        self.pool.release_idle()

    @rule(nbytes=SIZES)
    def trim(self, nbytes):
        size_class = self.pool.size_class(nbytes)
        if nbytes < MB:
            self.pool._trim_small(size_class, 0)
        else:
            self.pool.trim(size_class)

    @invariant()
    def no_two_blocks_overlap(self):
        starts = {number: block.address for number, block in self.blocks.items()}
        spans = sorted((start, start + max(self.sizes[number], 1)) for number, start in starts.items())
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))

    @invariant()
    def no_free_block_is_owned(self):
        owned = {block.address for block in self.blocks.values()}
        for size_class in self.pool._snapshot():
            assert not owned.intersection(size_class.free)
            assert len(size_class.free) == len(set(size_class.free))

    @invariant()
    def the_statistics_are_exact(self):
        statistics = self.pool.statistics()
        assert statistics.live_bytes == sum(map(class_bytes, self.sizes.values()))
        big = sum(len(c.free) * c.nbytes for c in self.pool._snapshot() if c.nbytes >= MB)
        assert big <= self.pool.idle_limit


Pool.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestPool = Pool.TestCase
