# ruff: noqa: E501 - a form is one text
"""The text of models: what they hold, the steps of their programs, and changes of them."""

from __future__ import annotations

import random

PRELUDE = """\
import collections, copy, functools, types
from dataclasses import dataclass
import numpy, torch
from ttnn_jit import ttnn
state = torch.Generator().manual_seed({seed})
{make}
class Layer:
    def __init__(self):
        self.weight, self.bias = new(), None
    def __call__(self, x):
        x = x * self.weight
        return x if self.bias is None else x + self.bias
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = parameter()
        self.put("shift", new())
    def put(self, name, tensor):
        self._buffers[name] = tensor
    def apply(self, x):
        return x - self.weight + self.shift
@dataclass
class Record:
    weight: object
    scale: float = 2.0
class Table(dict):
    def __getattr__(self, name):
        return self[name]
class Container(dict):
    def __contains__(self, key):
        return dict.__contains__(self, key)
class Missing(dict):
    def __missing__(self, key):
        return G
class Listed(list):
    pass
class Empty:
    pass
G, H = new(), new()
ROWS = [new(), new()]
SEEN = [G]
def helper(x, weight, other=H):
    return x + weight * other
def make(weight):
    return lambda x: x - weight
@functools.lru_cache
def remembered(n=1):
    return G
@functools.cache
def count(k):
    return len(ROWS) * k
def tag_of(tensor):
    try:
        return tensor.tag
    except AttributeError:
        return 4.0
class Model:
    def __init__(self):
        self.a, self.b = new(), new()
        self.layers = [Layer(), Layer()]
        self.modules = torch.nn.ModuleList([Module()])
        self.record = Record(new())
        self.table = Table(k=new(), inner=Table(w=new()))
        self.asked = Container(k=new())
        self.ordered = collections.OrderedDict(k=new(), m=1.0)
        self.default = collections.defaultdict(lambda: G, k=new())
        self.pair = (new(), new())
        self.shifted = make(new())
        self.bound = functools.partial(helper, weight=new())
        self.empty = Empty()
    def forward(self, x, y, items, named):
        t = x
"""

MAKE = {
    "torch": """\
def new(*shape):
    return torch.randint(-2, 3, shape or (4, 4), generator=state).float()
def parameter():
    return torch.nn.Parameter(new(), requires_grad=False)
""",
    "numpy": """\
def new(*shape):
    return torch.randint(-2, 3, shape or (4, 4), generator=state).float().numpy()
parameter = lambda: torch.nn.Parameter(torch.ones(4, 4), requires_grad=False)
""",
    "ttnn": """\
def new(*shape):
    made = torch.randint(-2, 3, (32, 32), generator=state).float()
    return ttnn.from_torch(made, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=DEVICE)
parameter = lambda: torch.nn.Parameter(torch.ones(4, 4), requires_grad=False)
""",
}

COMPUTING = (
    "t = t + self.a", "t = self.b - t", "t = t * G", "t = H + t", "t = self.a * self.b + t", "t = t - y",
    "t = -self.pair[0] + t", "for layer in self.layers:\n    t = layer(t)", "t = self.layers[1](t)",
    "t = t - self.layers[0].weight", "t = t + self.record.weight * self.record.scale", "t = t - self.table.k",
    "t = t + self.table['inner'].w", "for w in ROWS:\n    t = t - w", "first, second = self.pair\nt = first + t - second",
    "t = helper(t, self.a)", "t = helper(t, G, self.b)", "t = self.shifted(t)", "t = self.bound(t)", "t = t + remembered()",
    "t = t + items[0]", "t = t - named['k']", "for item in items:\n    t = t + item", "t = t + self.default['k']",
)  # fmt: skip
OF_TORCH = (
    "for module in self.modules:\n    t = module.apply(t)", "t = self.modules[0].weight + t",
    "t = t + self.modules[0].shift",
)  # fmt: skip
"""Steps over torch modules, which hold no other tensors."""

ASKING = (
    # identity
    "x is y", "x is not y", "x is self.a", "y is G", "self.a is self.b", "G is self.table.k", "items[0] is items[1]",
    "items[0] is x", "named['k'] is y", "any(x is one for one in items)", "all(y is not one for one in ROWS)",
    "any(one is G for one in SEEN)", "self.pair[0] is self.pair[1]", "self.layers[0] is self.layers[1]",
    "self.layers[0].weight is self.layers[1].weight", "self.record.weight is x", "remembered() is G",
    "named['k'] is self.default.get('k')", "self.bound.keywords['weight'] is H", "x is items[-1] or y is items[0]",
    "len([one for one in items if one is x]) == 1",
    # by C
    "len({x, y}) == 2", "len({x, y, *items}) > 2", "{x: 1, y: 2}[x] == 2", "x in {y: 1}", "y in {x, items[0]}",
    "{x: 3}.get(y, 4) == 4", "dict.fromkeys([x, y]) == dict.fromkeys([x])", "items.index(items[0]) == 0",
    "[x].count(x) == 1", "G in TABLE", "x in TABLE", "TABLE.get(y) is None", "len({*ROWS, G}) == 3",
    # membership and existence
    "'k' in self.table", "'q' in self.table", "'k' not in self.asked", "'k' in self.ordered", "'w' in self.table['inner']",
    "self.table.get('q') is None", "self.table.get('k') is None", "self.ordered.get('k', None) is not None",
    "len(self.table) > 2", "len(list(self.ordered)) == 2", "'m' in [*self.ordered.keys()]", "'k' in self.default",
    "hasattr(self, 'extra')", "hasattr(self.empty, 'weight')", "getattr(self.empty, 'weight', None) is None",
    "'weight' in self.empty.__dict__", "self.layers[0].bias is None", "'shift' in self.modules[0]._buffers",
    "'weight' in self.modules[0]._parameters", "hasattr(self.modules[0], 'shift')", "len(self.modules[0]._buffers) == 1",
    "'extra' in self.modules[0].__dict__", "bool(self.asked)", "bool(self.empty.__dict__)", "isinstance(self.pair, tuple)",
    # attributes and classes of tensors
    "hasattr(self.a, 'tag')", "getattr(self.a, 'tag', 2.0) == 2.0", "tag_of(G) == 4.0", "hasattr(y, 'tag')",
    "type(self.a) is type(self.b)", "type(G) is type(x)", "hasattr(G, 'no_such_name')", "count(2) == 4",
)  # fmt: skip
_NEEDS_HASH = ("{", "TABLE", "fromkeys")

CHANGES = (
    "model.a = new()", "model.b = model.a", "model.a = model.pair[1]", "model.b = new()", "G = new()", "H = new()",
    "G = model.table['k']", "ROWS[0] = new()", "ROWS[:] = [new(), new()]", "ROWS = [new(), new()]", "ROWS[1] = ROWS[0]",
    "ROWS.append(G)", "model.layers[0].weight = new()", "model.layers[1] = Layer()", "model.layers[1] = model.layers[0]",
    "model.layers[1].weight = model.layers[0].weight", "model.layers.reverse()", "model.layers.append(Layer())",
    "model.layers[0].bias = new()", "model.layers[0].bias = None", "model.record = Record(new())",
    "model.record.weight = new()", "model.record.weight = X", "model.record.scale = 3.0", "model.table['k'] = new()",
    "model.table = Table(k=new(), inner=Table(w=new()))", "model.table['q'] = new()", "model.table.pop('q', None)",
    "model.table.pop('k', None)", "model.table['k'] = None", "model.table['inner'] = Table()",
    "model.table['inner'] = Table(w=G)", "model.table = Table(inner=model.table)", "model.asked.clear()",
    "model.asked['k'] = new()", "model.asked = {'k': G}", "model.ordered.pop('k', None)", "model.ordered['k'] = G",
    "model.ordered['n'] = new()", "model.ordered = {'k': new(), 'm': 2.0}", "model.ordered = Missing(m=1.0)",
    "model.default = {'k': G}", "model.default = collections.defaultdict(lambda: G)", "model.default = Missing()",
    "model.default['k'] = new()", "model.default.pop('k', None)", "model.pair = (new(), new())",
    "model.pair = (G, G)", "model.pair = [new(), G]", "model.pair = Listed([G, H])", "model.shifted = make(new())",
    "model.bound = functools.partial(helper, weight=G)", "model.bound = functools.partial(helper, weight=H)",
    "helper.__defaults__ = (new(),)", "model.extra = new()", "vars(model).pop('extra', None)",
    "model.empty.weight = new()", "vars(model.empty).clear()", "SEEN[0] = new()", "SEEN[:] = [G, H]", "TABLE = {G: 1}",
    "TABLE = {X: 1, G: 2}", "TABLE = {}", "remembered.cache_clear()", "count.cache_clear()",
    "X = G", "X = new()", "Y = X", "Y = new()", "Y = model.a", "ITEMS[0] = ITEMS[1]", "ITEMS[0] = X", "ITEMS[1] = new()",
    "ITEMS = [new(), new()]", "NAMED['k'] = Y", "NAMED['k'] = new()", "X, Y = Y, X", "model.a = X", "G = Y",
    "model = copy.copy(model)",
)  # fmt: skip
CHANGES_OF_TORCH = (
    "model.modules[0] = Module()", "model.modules[0].weight = parameter()", "model.modules[0].weight.data = new()",
    "model.modules[0].load_state_dict(Module().state_dict(), strict=False)", "model.a.add_(1.0)",
    "model.a = torch.empty_strided((4, 4), (1, 4)).copy_(new())", "model.a = parameter()", "G = parameter()",
    "model.a.tag = 3.0", "vars(model.a).clear()", "G.tag = 4.0", "G.tag = 5.0", "Y.tag = 1.0", "vars(Y).clear()",
    "model.modules[0].put('shift', new())", "model.modules[0]._buffers.pop('shift', None)",
    "model.modules[0].put('other', new())", "model.modules[0]._parameters.pop('weight', None)",
    "model.modules[0].register_parameter('weight', parameter())", "model.modules[0].extra = 1.0",
    "X = X[:]", "Y = X[:]",
)  # fmt: skip

CALLED = (
    "TABLE = {G: 1} if type(G).__hash__ else {}\nX, Y = new(), new()\nITEMS, NAMED = [new(), new()], {'k': new()}\n"
)
"""The arguments of the program, which changes bind too."""


class Writer:
    """A model under construction, with tensors of one library."""

    def __init__(self, draw: random.Random, library: str) -> None:
        self._draw = draw
        self._library = library
        self._asking = [form for form in ASKING if library != "numpy" or not any(part in form for part in _NEEDS_HASH)]
        self._computing = [*COMPUTING, *(OF_TORCH if library == "torch" else ())]

    def text(self, seed: int, steps: int = 6) -> str:
        """The text of its module."""
        body = [line for _ in range(steps) for line in self._step().splitlines()]
        program = "".join(f"        {line}\n" for line in (*body, "return t"))
        return f"{PRELUDE.format(seed=seed, make=MAKE[self._library])}{program}{CALLED}"

    def change(self) -> str:
        """A statement that changes it, or the arguments of its program."""
        of_torch = self._library == "torch" and self._draw.random() < 0.25
        return self._draw.choice(CHANGES_OF_TORCH if of_torch else CHANGES)

    def _step(self) -> str:
        draw = self._draw
        if draw.random() < 0.4:
            return draw.choice(self._computing)
        condition = draw.choice(self._asking)
        if draw.random() < 0.3:
            condition = f"{condition} {draw.choice(['and', 'or'])} {draw.choice(self._asking)}"
        yes, no = (draw.choice(self._computing).splitlines() for _ in range(2))
        if draw.random() < 0.5:
            yes, no = [f"t = t + {draw.choice('123')}.0"], [f"t = t * {draw.choice(['2.0', '-1.0', '3.0'])}"]
        return "\n".join(
            [f"if {condition}:", *(f"    {line}" for line in yes), "else:", *(f"    {line}" for line in no)]
        )
