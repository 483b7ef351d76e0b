"""Models in ordinary style: modules with a `program(x)`, or with a `model` whose `forward` is compiled."""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """\
import functools, operator, types
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple
import torch
from ttnn_jit import ttnn
"""


@dataclass(frozen=True)
class Model:
    """The text of a module, and statements that change it: after each of them its result is another one."""

    text: str
    changes: tuple[str, ...]


_CONFIG = """
@dataclass{0}
class Inner:
    scale: float = 2.0
    names: tuple = ("relu", "neg")
@dataclass{0}
class Config:
    width: int = 4
    eps: float = 0.5
    bias: float | None = None
    inner: Inner = field(default_factory=Inner)
    @property
    def half(self):
        return self.width / 2
    def rate(self, factor=2.0):
        return self.half * factor * self.inner.scale
config = Config()
def program(x):
    if config.bias is not None:
        x = x + config.bias
    return x * config.half * config.inner.scale + config.rate() * config.eps + len(config.inner.names)
"""

_LAYERS = """
class Scale:
    def __init__(self, scale, bias=0.0):
        self.scale = scale
        self.bias = bias
    def __call__(self, x):
        return x * self.scale + self.bias
    def only_scale(self, x):
        return x * self.scale
class Model:
    factor = 2.0
    def __init__(self):
        self.layers = [Scale(2.0), Scale(3.0, 1.0), Scale(0.5)]
        self.last = 4.0
    def forward(self, x):
        {}
model = Model()
"""

_PATHS = {
    "an item": "return self.layers[0](x)",
    "the last item": "return self.layers[-1](x)",
    "a slice": "for layer in self.layers[0:2]:\n            x = layer(x)\n        return x",
    "a loop": "for layer in self.layers:\n            x = layer(x)\n        return x",
    "a loop over a method": "for layer in self.layers:\n            x = layer.only_scale(x)\n        return x",
    "zip": "for layer, k in zip(self.layers, self.layers[1:]):\n            x = layer(x) * k.scale\n        return x",
    "enumerate": "for i, layer in enumerate(self.layers):\n            x = layer(x) * (i + 1)\n        return x",
    "len and range": "for i in range(len(self.layers)):\n            x = self.layers[i](x)\n        return x",
    "a sum of a comprehension": "return x * sum(layer.scale for layer in self.layers)",
    "a sum of a list": "return x * sum([layer.scale for layer in self.layers])",
    "max with a key": "return x * max(self.layers, key=lambda layer: layer.scale).scale * self.layers[0].scale",
    "reduce": "return functools.reduce(lambda t, layer: layer(t), self.layers, x)",
    "reversed": "for layer in reversed(self.layers):\n            x = layer(x)\n        return x",
    "a comprehension with a condition": "return x * sum(layer.scale for layer in self.layers if layer.bias == 0.0)",
    "attributes": "return x * self.layers[0].scale * self.last * self.factor",
    "unpacking": "first, *rest = self.layers\n        return rest[0](first(x))",
}

MODELS: dict[str, Model] = {
    **{
        f"layers: {name}": Model(_LAYERS.format(text), ("model.layers[0].scale = 8.0", "model.layers[0] = Scale(16.0)"))
        for name, text in _PATHS.items()
        if name not in {"the last item", "reversed"}
    },
    "layers: the last item": Model(
        _LAYERS.format(_PATHS["the last item"]), ("model.layers[-1].scale = 8.0", "model.layers.append(Scale(16.0))")
    ),
    "layers: reversed": Model(
        _LAYERS.format(_PATHS["reversed"]), ("model.layers[1].bias = 8.0", "model.layers.reverse()")
    ),
    "a class attribute": Model(
        _LAYERS.format("return x * self.factor"), ("Model.factor = 3.0", "model.factor = 4.0", "del model.factor")
    ),
    "a method of the model": Model(
        """
class Model:
    def __init__(self):
        self.scale = 2.0
    def block(self, x, k=2.0):
        return x * self.scale * k
    def forward(self, x):
        return self.block(self.block(x), k=3.0)
model = Model()
""",
        ("model.scale = 3.0", "Model.block = lambda self, x, k=2.0: x * k", "model.block = lambda x, k=2.0: x + k"),
    ),
    "super()": Model(
        """
class Base:
    def __init__(self, scale):
        self.scale = scale
    def block(self, x):
        return x * self.scale
    @property
    def rate(self):
        return self.scale + 1.0
class Model(Base):
    def __init__(self):
        super().__init__(2.0)
        self.bias = 1.0
    def block(self, x):
        return super().block(x) + self.bias
    @property
    def rate(self):
        return super().rate * 2.0
    def forward(self, x):
        return self.block(x) * self.rate
model = Model()
""",
        ("model.scale = 3.0", "Base.block = lambda self, x: x * 7.0", "Base.rate = 5.0"),
    ),
    "a cached_property": Model(
        """
class Model:
    def __init__(self):
        self.width = 4
    @functools.cached_property
    def scale(self):
        return self.width ** -0.5
    def forward(self, x):
        return x * self.scale
model = Model()
""",
        ("model.width = 16; vars(model).pop('scale', None)", "model.scale = 8.0"),
    ),
    "an nn.Module": Model(
        """
class Model(torch.nn.Module):
    def __init__(self, scale=2.0, gated=True):
        super().__init__()
        self.scale = scale
        self.gated = gated
        self.name = "relu"
    def forward(self, x):
        x = x * self.scale
        if self.gated:
            x = x + 1.0
        if not self.training:
            x = x * 2.0
        return getattr(ttnn, self.name)(x)
model = Model()
""",
        ("model.scale = 3.0", "model.gated = False", "model.eval()", "model.name = 'neg'"),
    ),
    "nn.Modules in nn.Modules": Model(
        """
class Block(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(2.0)
        self.blocks = torch.nn.ModuleList([Block(3.0), Block(4.0)])
    def forward(self, x):
        x = x * self.first.scale
        for block in self.blocks:
            x = x * block.scale
        return x * len(self.blocks)
model = Model()
""",
        ("model.first.scale = 3.0", "model.blocks[1].scale = 5.0", "model.blocks.append(Block(2.0))"),
    ),
    **{
        f"a {name} dataclass": Model(
            _CONFIG.format(parameters),
            (
                "config = Config(width=8)",
                "config = Config(inner=Inner(3.0))",
                "config = Config(bias=1.0)",
                *(("config.eps = 2.0", "config.inner.scale = 5.0") if name == "mutable" else ()),
                "Config.half = property(lambda self: self.width * 4)",
            ),
        )
        for name, parameters in {"mutable": "", "frozen": "(frozen=True)", "slotted": "(slots=True)"}.items()
    },
    "a NamedTuple": Model(
        """
class Config(NamedTuple):
    scale: float = 2.0
    width: int = 4
    def rate(self):
        return self.scale * self.width
config = Config()
def program(x):
    scale, width = config
    return x * config.scale + config.rate() * scale + width
""",
        ("config = Config(3.0)", "config = config._replace(width=2)"),
    ),
    "an Enum option": Model(
        """
class Kind(Enum):
    RELU = "relu"
    NEG = "neg"
class Level(IntEnum):
    LOW = 1
    HIGH = 4
class Options:
    kind = Kind.RELU
    level = Level.LOW
options = Options()
def program(x):
    if options.kind is Kind.RELU:
        x = ttnn.relu(x) * 2.0
    elif options.kind == Kind.NEG:
        x = ttnn.neg(x)
    if options.level >= Level.HIGH:
        x = x + 1.0
    return x * options.level.value * len(options.kind.value)
""",
        ("options.kind = Kind.NEG", "options.level = Level.HIGH"),
    ),
    "keys made of f-strings": Model(
        """
params = {"layer0.scale": 2.0, "layer1.scale": 3.0, "layer1.bias": 0.5}
prefix = "layer"
def program(x):
    for i in range(2):
        x = x * params[f"{prefix}{i}.scale"]
        if f"{prefix}{i}.bias" in params:
            x = x + params[f"{prefix}{i}.bias"]
    return x
""",
        ("params['layer1.scale'] = 5.0", "params['layer0.bias'] = 1.0", "del params['layer1.bias']"),
    ),
    "a table of activations": Model(
        """
def scaled_relu(x):
    return ttnn.relu(x) * FACTOR
FACTOR = 3.0
ACT2FN = {"relu": ttnn.relu, "scaled": scaled_relu, "neg": lambda x: ttnn.neg(x)}
class Config:
    hidden_act = "scaled"
config = Config()
def program(x):
    return ACT2FN[config.hidden_act](x) * 2.0
""",
        (
            "FACTOR = 4.0",
            "config.hidden_act = 'neg'",
            "ACT2FN['neg'] = ttnn.abs",
            "del config.hidden_act",
        ),
    ),
    "a SimpleNamespace": Model(
        """
args = types.SimpleNamespace(scale=2.0, model=types.SimpleNamespace(eps=0.5, sizes=[1, 2]))
def program(x):
    return x * args.scale + args.model.eps * args.model.sizes[-1]
""",
        ("args.scale = 3.0", "args.model.eps = 1.0", "args.model.sizes.append(4)"),
    ),
    "a dict with attributes": Model(
        """
class ParameterDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
    def __setattr__(self, name, value):
        self[name] = value
parameters = ParameterDict(scale=2.0, linear=ParameterDict(eps=0.5, flag=True))
def program(x):
    if parameters.linear.flag:
        x = x + parameters.linear.eps
    return x * parameters.scale * parameters["scale"]
""",
        (
            "parameters.scale = 3.0",
            "parameters.linear.flag = False",
            "parameters['linear'] = ParameterDict(flag=True, eps=4.0)",
        ),
    ),
    "a dict whose attributes are its items": Model(
        """
class AttrDict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
cfg = AttrDict(scale=2.0, inner=AttrDict(eps=0.5))
def program(x):
    return x * cfg.scale + cfg.inner.eps
""",
        ("cfg.scale = 3.0", "cfg.inner.eps = 1.0"),
    ),
    "getattr with a default": Model(
        """
class Config:
    scale = 2.0
config = Config()
def program(x):
    if getattr(config, "gate", None) is None:
        x = x * config.scale
    if hasattr(config, "extra"):
        x = x + 1.0
    return x * getattr(config, "rate", 3.0)
""",
        ("config.rate = 4.0", "Config.extra = True", "config.gate = 1.0"),
    ),
    "isinstance": Model(
        """
class Base:
    scale = 2.0
class Wide(Base):
    scale = 4.0
block = Wide()
sizes = [1, 2.0, (3.0, 4.0)]
def program(x):
    if isinstance(block, Wide):
        x = x + 1.0
    for size in sizes:
        x = x * (sum(size) if isinstance(size, (tuple, list)) else size)
    return x * block.scale
""",
        ("block = Base()", "sizes.append([2.0])"),
    ),
    "helpers, defaults and closures": Model(
        """
def scaled(x, factor=2.0, *, bias=1.0):
    return x * factor + bias
def make(n):
    def inner(x):
        return x * n
    return inner
tripled = make(3.0)
halved = functools.partial(scaled, factor=0.5)
def program(x):
    return halved(tripled(scaled(x, bias=2.0)))
""",
        (
            "scaled.__kwdefaults__ = {'bias': 4.0}",
            "tripled = make(5.0)",
            "halved = functools.partial(scaled, factor=8.0)",
        ),
    ),
    "constants of a module": Model(
        """
import math
EPS, SIZES, LIMITS = 0.5, (2, 3), {"low": 0.25, "high": 4.0}
def program(x):
    rate = math.sqrt(16.0) * max(SIZES) / min(SIZES)
    return x * rate + EPS * LIMITS["high"] + sum(SIZES) + abs(round(EPS))
""",
        ("EPS = 0.25", "SIZES = (2, 5)", "LIMITS['high'] = 8.0"),
    ),
    "imports inside": Model(
        """
SCALE = 2.0
def scaled(x):
    return x * SCALE
def program(x):
    import math as m
    import os.path
    from ordinary_model import scaled as again, SCALE as scale
    try:
        from ordinary_model import LATER as bias
    except ImportError:
        bias = 2.0
    return again(x) * m.floor(scale) + bias + len(os.path.sep)
""",
        ("SCALE = 4.0", "scaled = lambda x: x * 8.0", "LATER = 1.0"),
    ),
    "generators": Model(
        """
class Stack:
    def __init__(self):
        self.scales = [2.0, 3.0]
    def __iter__(self):
        yield from self.scales
    def taps(self, x):
        for scale in self:
            x = x * scale
            yield x
        return x
stack = Stack()
def counted(parts):
    i = 0
    last = yield from parts
    while True:
        i += 1
        yield last * i
def program(x):
    total = sum(stack.taps(x))
    for i, part in zip(range(4), counted(stack.taps(x))):
        total = total + part * i
    return total
""",
        ("stack.scales[0] = 4.0", "stack.scales.append(0.5)", "Stack.__iter__ = lambda self: iter([3.0])"),
    ),
    "contexts of generators": Model(
        """
import contextlib
@contextlib.contextmanager
def adding(made, bias):
    made.append(bias)
    try:
        yield bias * 2.0
    except ValueError:
        made.append(16.0)
    finally:
        made.append(bias)
class Model:
    def __init__(self):
        self.scale = 2.0
    @contextlib.contextmanager
    def scaling(self, k):
        yield self.scale * k
    def forward(self, x):
        made = []
        with self.scaling(3.0) as k, adding(made, 1.0) as bias:
            x = x * k + bias
            raise ValueError("left")
        return x + sum(made)
model = Model()
""",
        ("model.scale = 4.0", "Model.scaling = contextlib.contextmanager(lambda self, k: iter([k]))"),
    ),
}
