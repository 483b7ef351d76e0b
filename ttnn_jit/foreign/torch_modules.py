"""The dicts in which a torch module keeps parameters, buffers and submodules: guards read them directly."""

from __future__ import annotations

import collections
import sys
from typing import Any

from ttnn_jit.foreign.values import ABSENT, has_member, is_implemented_in_c, member_of, own_attribute, python_member

_DICTS = (dict, collections.OrderedDict)
"""The classes of the dicts: deleting from a `ModuleList` makes an OrderedDict."""

MODULE_TABLES = ("_parameters", "_buffers", "_modules")
"""The attributes of a module that hold the dicts, in the order of `Module.__getattr__`."""


def table_of_attribute(module: Any, name: str) -> str | None:
    """The dict in which a module finds the attribute `name`; None if other code decides its value."""
    nn, kind = _nn(), type(module)
    if nn is None or not issubclass(kind, nn.Module) or member_of(kind, "__getattr__") is not nn.Module.__getattr__:
        return None
    if python_member(kind, "__getattribute__") or has_member(kind, name) or own_attribute(module, name) is not ABSENT:
        return None
    tables = {table: own_attribute(module, table) for table in MODULE_TABLES}
    if any(type(held) not in _DICTS for held in tables.values()):
        return None
    holding = [table for table, held in tables.items() if name in held]
    return holding[0] if len(holding) == 1 else None


def key_of_item(modules: Any, index: Any) -> str | None:
    """The key of the item at an index of a list of modules; None if other code decides the item."""
    nn, kind = _nn(), type(modules)
    lists = () if nn is None else (nn.ModuleList, nn.Sequential)
    plain = any(member_of(kind, "__getitem__") is member_of(cls, "__getitem__") for cls in lists)
    held = own_attribute(modules, "_modules")
    return str(index) if plain and type(index) is int and type(held) in _DICTS and str(index) in held else None


def is_default_setattr(setter: Any) -> bool:
    """Whether `setter`, the ``__setattr__`` of a class, only stores the value."""
    nn = _nn()
    return is_implemented_in_c(setter) or (nn is not None and setter is member_of(nn.Module, "__setattr__"))


def is_called_by_torch(module: Any) -> bool:
    """Whether `module` is a torch module whose ``__call__`` is torch's, which runs hooks around ``forward``."""
    nn = _nn()
    return nn is not None and member_of(type(module), "__call__") is member_of(nn.Module, "__call__")


def _nn() -> Any:
    return getattr(sys.modules.get("torch"), "nn", None)
