"""The module `ttnn.dot_access`: dicts whose items are attributes too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import names_of

__all__ = ["DotAccessDict", "make_dot_access_dict"]


class DotAccessDict(dict[Any, Any]):
    """Items by key, and those whose keys are names by attribute."""

    _kind_of_item = "item"
    """What errors call one."""

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
    """A dict, and the dicts in it, as `DotAccessDict` objects; those of `ignore_types` stay what they are."""

    def nested(value: Any) -> Any:
        plain = isinstance(value, dict) and not isinstance(value, ignore_types)
        return make_dot_access_dict(value, ignore_types) if plain else value

    return DotAccessDict({key: nested(value) for key, value in dictionary.items()})


__getattr__ = names_of("dot_access", __all__)
