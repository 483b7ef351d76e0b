"""The module `ttnn.dot_access`: dicts with attribute access to their items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr

__all__ = ["DotAccessDict", "make_dot_access_dict"]


class DotAccessDict(dict[Any, Any]):
    """A dict whose items with identifiers as keys are attributes too."""

    _kind_of_item = "item"
    """The noun for an item in error messages."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        known = ", ".join(f"`{key}`" for key in self)
        raise AttributeError(f"there is no {self._kind_of_item} `{name}`; there are {known}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]


@host_function(name="dot_access.make_dot_access_dict", observed=False)
def make_dot_access_dict(dictionary: Mapping[Any, Any], ignore_types: tuple[type, ...] = ()) -> DotAccessDict:
    """A copy of a dict with every nested dict as a `DotAccessDict`; instances of `ignore_types` are kept unchanged."""

    def nested(value: Any) -> Any:
        plain = isinstance(value, dict) and not isinstance(value, ignore_types)
        return make_dot_access_dict(value, ignore_types) if plain else value

    return DotAccessDict({key: nested(value) for key, value in dictionary.items()})


__getattr__ = submodule_getattr("dot_access", __all__)
