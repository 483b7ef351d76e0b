"""The programs of docs/examples/models in full or small size, for ttnn and for torch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

MODELS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "models"
"""The folder of this checkout, even if a process imports another checkout's package."""
EAGER, JIT, TRACE, CHIP = "ttnn eager", "ttnn jit", "ttnn trace", "eager on wormhole_b0"
OURS = (EAGER, JIT, TRACE, CHIP)
PEERS = ("torch f32", "torch bf16", "torch.compile f32", "torch.compile bf16")
BATCHES = (1, 8)
MAIN = ("bert", "vit", "mnist_mlp")
"""Models that are measured at both batches and with torch.compile, which takes most of the benchmark's time."""


@dataclass(frozen=True)
class Model:
    """A program and its batch.

    Attributes:
        name: Name of its file.
        batch: The batch; None for the program's default.
    """

    name: str
    batch: int | None

    @property
    def title(self) -> str:
        """The model in tables."""
        return self.name if self.batch is None else f"{self.name}, batch {self.batch}"

    @property
    def contenders(self) -> tuple[str, ...]:
        """The contenders that run it."""
        return (*OURS, *(each for each in PEERS if self.name in MAIN or "compile" not in each))


def module_of(name: str) -> ModuleType:
    """The program of a model, which imports ttnn."""
    import ttnn_jit

    ttnn_jit.register_as_ttnn()
    spec = importlib.util.spec_from_file_location(name, MODELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names() -> list[str]:
    """The names of the models."""
    return sorted(path.stem for path in MODELS.glob("*.py"))


def models() -> list[Model]:
    """Every program."""
    return [Model(name, batch) for name in names() for batch in (BATCHES if name in MAIN else (None,))]


def built(model: Model, *, quick: bool, target: str = "cpu", jitted: bool = False) -> tuple[Any, Any, Any]:
    """The device, a function that runs the model on it, and one that runs torch's."""
    import ttnn_jit
    from ttnn_jit import ttnn

    module = module_of(model.name)
    device = ttnn.open_device(device_id=0, target=target)
    given = {} if model.batch is None else {"batch": model.batch}
    compiled = ttnn_jit.jit() if jitted else lambda function: function
    return device, *module.build(module.SMALL if quick else module.FULL, device, compiled=compiled, **given)


def in_torch(reference: Callable[[], Any], contender: str) -> Callable[[], Any]:
    """A function that runs torch's model as a contender does."""
    import torch

    called = torch.compile(reference, options={"freezing": True}) if "compile" in contender else reference

    def call() -> Any:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=contender.endswith("bf16")):
            return called()

    return call
