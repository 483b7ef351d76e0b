"""Instances of one class share the programs of a jitted method where all that a compile read is the same."""

import gc
import weakref

import torch

import ttnn_jit
from ttnn_jit import ttnn


def changes(call, *names):
    """The changes of counts of `cache_info` by a call."""
    before = ttnn_jit.cache_info()
    call()
    after = ttnn_jit.cache_info()
    return tuple(getattr(after, name) - getattr(before, name) for name in names)


class Inner:
    def __init__(self, width, rate):
        self.weight, self.rate = torch.randn(width, width), rate


def layer_class():
    class Layer:
        def __init__(self, width=8, scale=0.5, rate=1.5, *, gated=False):
            self.inner, self.scale, self.gated = Inner(width, rate), scale, gated
            self.weight = torch.randn(width, width)

        @ttnn_jit.jit(enable_cache=False)
        def forward(self, x):
            x = ttnn.matmul(ttnn.matmul(x, self.weight), self.inner.weight) * self.scale
            return ttnn.exp(x) if self.gated else x + self.inner.rate

        def expected(self, x):
            x = x @ self.weight @ self.inner.weight * self.scale
            return torch.exp(x) if self.gated else x + self.inner.rate

    return Layer


def runs(layer, rows, width=8):
    x = torch.randn(rows, width) / 8
    torch.testing.assert_close(layer.forward(x), layer.expected(x), rtol=1e-4, atol=1e-4)


def compiles(layer, rows, width=8):
    return changes(lambda: runs(layer, rows, width), "compiles", "templates")


def test_instances_with_equal_attributes_share_a_program_and_a_template():
    Layer = layer_class()
    layers = [Layer() for _ in range(5)]
    assert [compiles(layer, 4) for layer in layers] == [(1, 0), *[(0, 0)] * 4]
    assert [compiles(layer, 5) for layer in layers] == [(1, 1), *[(0, 0)] * 4]
    assert [compiles(layer, 6) for layer in layers] == [(0, 0)] * 5
    assert [compiles(layer, 5) for layer in layers] == [(0, 0)] * 5


def test_numbers_that_differ_between_instances_are_open():
    Layer = layer_class()
    layers = [Layer(scale=0.3 + 0.11 * k, rate=2.5 + k) for k in range(6)]
    assert [compiles(layer, 4)[0] for layer in layers] == [1, 1, 0, 0, 0, 0]
    assert sum(compiles(layer, 5)[0] for layer in layers) <= 1
    assert sum(compiles(layer, rows)[0] for layer in layers for rows in (6, 7)) == 0


def test_what_differs_between_instances_is_compiled_for_each():
    Layer = layer_class()
    for own in (Layer(), Layer(gated=True)):
        assert compiles(own, 4)[0] == 1
    assert compiles(Layer(16), 4, 16)[0] == 1
    wide = Layer()
    wide.weight = torch.randn(8, 8).bfloat16().float().t()
    assert compiles(wide, 4)[0] == 1  # of other strides


def test_a_change_of_one_instance_changes_no_other():
    Layer = layer_class()
    one, other = Layer(), Layer()
    for layer in (one, other):
        runs(layer, 4)
    one.gated = True
    for layer in (one, other, one):
        runs(layer, 4)
    one.inner = Inner(8, 7.5)
    for layer in (one, other, one):
        runs(layer, 4)


def test_tied_weights_of_one_instance_are_none_of_another():
    class Tied:
        def __init__(self):
            self.a, self.b = torch.randn(4, 4), torch.randn(4, 4)

        @ttnn_jit.jit(enable_cache=False)
        def forward(self, x):
            return x * self.a if self.a is self.b else x + self.b

    tied, x = Tied(), torch.randn(4, 4)
    tied.b = tied.a
    assert torch.equal(tied.forward(x), x * tied.a)
    free = Tied()
    assert torch.equal(free.forward(x), x + free.b)
    assert torch.equal(tied.forward(x), x * tied.a)


def test_subclasses_and_overridden_methods_are_told_apart():
    class Base:
        @ttnn_jit.jit(enable_cache=False)
        def forward(self, x):
            return self.act(x)

        def act(self, x):
            return x + 1.5

    class Derived(Base):
        def act(self, x):
            return x * 3.0

    x = torch.randn(4, 4)
    for _ in range(2):
        assert torch.equal(Base().forward(x), x + 1.5)
        assert torch.equal(Derived().forward(x), x * 3.0)


def test_shared_programs_keep_no_instance_and_no_weight_alive():
    Layer = layer_class()
    layers = [Layer() for _ in range(3)]
    for layer in layers:
        for rows in (4, 5):
            runs(layer, rows)
    watched = [weakref.ref(layer.inner) for layer in layers] + [weakref.ref(layer.weight) for layer in layers]
    del layer
    layers.clear()
    gc.collect()
    assert not any(each() is not None for each in watched)
    fresh = Layer()
    assert compiles(fresh, 5)[0] == 0  # by the template


def test_cleared_programs_are_compiled_again():
    Layer = layer_class()
    layers = [Layer() for _ in range(2)]
    for layer in layers:
        runs(layer, 4)
    Layer.__dict__["forward"].clear()
    assert changes(lambda: runs(layers[0], 4), "memory_hits") == (0,)


def test_torch_modules_share_templates():
    class Block(torch.nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.linear, self.scale = torch.nn.Linear(8, 8), scale
            self.requires_grad_(False)

        @ttnn_jit.jit(enable_cache=False)
        def forward(self, x):
            own = self.linear
            return ttnn.gelu(ttnn.linear(x, own.weight, bias=own.bias, transpose_b=True)) * self.scale

    blocks = [Block(0.25 + 0.5 * k) for k in range(4)]

    def call(block, rows):
        x = torch.randn(rows, 8)
        expected = torch.nn.functional.gelu(block.linear(x)) * block.scale
        torch.testing.assert_close(block.forward(x), expected, rtol=1e-4, atol=1e-4)

    found = [changes(lambda: call(block, rows), "compiles")[0] for rows in (9, 10, 11) for block in blocks]  # noqa: B023
    assert sum(found) <= 4
    assert sum(found[-4:]) == 0
