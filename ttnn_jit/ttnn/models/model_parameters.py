"""Containers of a model's parameters, nested like its modules, with access by name and by attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ttnn_jit.foreign.torch_tensor import is_torch_tensor
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.dot_access import DotAccessDict


class ParameterList(list[Any]):
    """Parameters of a `torch.nn.ModuleList`; ``index in parameters`` tests for an index."""

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and index < len(self)

    def __repr__(self) -> str:
        return _shown(self, "")


class ParameterDict(DotAccessDict):
    """Parameters and submodules by name, with attribute access: ``parameters.layers[0].weight``."""

    _kind_of_item = "parameter"

    def __repr__(self) -> str:
        return _shown(self, "")


class ModuleArgs(dict[str, Any]):
    """The settings and input sizes of a module by name, with attribute access."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"there is no argument `{name}`", name=name, obj=self)


class Conv2dArgs(ModuleArgs):
    """Arguments of a `torch.nn.Conv2d`."""


class ConvTranspose2dArgs(ModuleArgs):
    """Arguments of a `torch.nn.ConvTranspose2d`."""


class MaxPool2dArgs(ModuleArgs):
    """Arguments of a `torch.nn.MaxPool2d`."""


@host_function(name="model_preprocessing.make_parameter_dict", observed=False)
def make_parameter_dict(dictionary: Mapping[Any, Any]) -> ParameterDict:
    """A copy of a dict with every nested dict as a `ParameterDict`; a `ParameterDict` is returned itself."""
    if isinstance(dictionary, ParameterDict):
        return dictionary
    return ParameterDict({key: _nested(value) for key, value in dictionary.items()})


def _nested(value: Any) -> Any:
    return make_parameter_dict(value) if isinstance(value, dict) and not isinstance(value, ModuleArgs) else value


def _shown(value: Any, indent: str) -> str:
    """The text of nested parameters, one line per tensor."""
    if isinstance(value, ParameterList):
        return _bracketed("[]", (_shown(each, indent + "  ") for each in value), indent)
    if isinstance(value, ParameterDict):
        return _bracketed("{}", (f"{key}: {_shown(each, indent + '  ')}" for key, each in value.items()), indent)
    if isinstance(value, Tensor):
        return f"ttnn.Tensor(shape={value.shape}, layout={value.layout}, dtype={value.dtype})"
    if is_torch_tensor(value):
        return f"torch.Tensor(shape={value.shape}, dtype={value.dtype})"
    return repr(value)


def _bracketed(brackets: str, lines: Iterator[str], indent: str) -> str:
    body = ",\n".join(f"{indent}  {line}" for line in lines)
    return f"{brackets[0]}\n{body}\n{indent}{brackets[1]}" if body else brackets
