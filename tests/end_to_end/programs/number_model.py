"""Functions whose numbers change from call to call; each is `f(x, number)` for the tests, whatever form it takes."""

import math
from dataclasses import dataclass

from ttnn_jit import ttnn


@dataclass
class Settings:
    scale: float
    shift: int = 3


class Layer:
    scale = 1.0

    def forward(self, x):
        return x * self.scale + self.scale


SCALE = 1.0
TABLE = {"scale": 1.0, "shifts": [1, 2]}


def scaled(x, number):
    return x * number + number


def by_keyword(x, *, number):
    return number - x


def of_record(x, settings):
    return x * settings.scale + settings.shift


def of_containers(x, numbers):
    return x / numbers["inner"][0]


def of_global(x):
    return x * SCALE


def of_items(x):
    return x * TABLE["scale"] + TABLE["shifts"][1]


def epilogue(x, number):
    return ttnn.relu(ttnn.matmul(x, x) * number)


def reduced(x, number):
    return ttnn.softmax(x * number, dim=-1) - ttnn.mean(x, dim=0, keepdim=True) / number


def computed(x, number):
    factor = math.sqrt(abs(number) + 1) / 2 if number > 0.01 else 2.0
    return x * factor + 1.0 / (number * number + x.shape[0])


def filled(x, number):
    return ttnn.full(x.shape, number, dtype=ttnn.float32) + x


def parameters(x, number):
    return ttnn.leaky_relu(ttnn.clamp(ttnn.elu(x, alpha=number), -number, number), number)


def norm(x, number):
    return ttnn.rms_norm(x, epsilon=number * 1e-5)


def seeded(x, seed):
    return ttnn.experimental.dropout(x, probability=0.5, scale=2.0, seed=seed)


def mean(x):
    return ttnn.mean(x, dim=-1, keepdim=True) * (1.0 / x.shape[0])


def normalized(x):
    return ttnn.layer_norm(x, epsilon=1e-5)


def named(x, number):
    return x * len(f"{number} of them")
