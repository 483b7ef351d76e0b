"""Cached properties, which hold no lock while they are computed."""

import threading

from ttnn_jit.process.cached_property import cached_property


class Slow:
    looks = 0

    def __init__(self, started=None, may_end=None):
        self.started, self.may_end = started, may_end

    @cached_property
    def value(self):
        """A docstring."""
        self.looks += 1
        if self.started:
            self.started.set()
            self.may_end.wait(10)
        return self.looks


def test_a_cached_property_is_computed_at_the_first_access_and_kept():
    slow = Slow()
    assert (slow.value, slow.value, slow.looks) == (1, 1, 1)
    assert Slow.value.__doc__ == "A docstring."


def test_concurrent_first_accesses_of_different_objects_do_not_wait():
    started, may_end = threading.Event(), threading.Event()
    busy = Slow(started, may_end)
    thread = threading.Thread(target=lambda: busy.value)
    thread.start()
    started.wait(10)
    assert Slow().value == 1
    assert "value" not in vars(busy)
    may_end.set()
    thread.join()
    assert busy.value == 1
