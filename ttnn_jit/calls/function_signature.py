"""The current parameters of a jitted function: Python lets programs replace a function's code and defaults."""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.arguments import Arguments, is_object, is_tensor
from ttnn_jit.foreign.pytrees import LEAF, PyTree, flatten, join
from ttnn_jit.foreign.values import is_scalar_class
from ttnn_jit.guards.bound_objects import VARIABLE, sync_with_original

PlainParameters: TypeAlias = tuple[tuple[str, ...], int]
"""The names of parameters, and the number of the first ones that take no keyword."""


class CallSignature:
    """The binding of arguments to the parameters of `function`.

    Attributes:
        names: The names of the parameters.
        positional: The number of parameters if all are positional; else -1.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function
        self._read()

    def _read(self) -> None:
        self._parts = _signature_parts(self._function)
        self._signature = inspect.signature(self._function)
        self.names = tuple(self._signature.parameters)
        kinds = self._signature.parameters.items()
        self._variable = {name for name, parameter in kinds if parameter.kind in VARIABLE}  # these have no defaults
        self._positional_names = [name for name, parameter in kinds if parameter.kind in _POSITIONAL_KINDS]
        plain = plain_parameters(self._signature)
        self.positional = -1 if plain is None else len(plain[0])

    def follow_changes(self) -> None:
        """Read the signature again if the function was changed.

        Raises:
            ArgumentError: The parameters have changed: the keywords of this call were already bound to the old ones.
        """
        sync_with_original(self._function)
        current = _signature_parts(self._function)
        if len(current) == len(self._parts) and all(map(operator.is_, self._parts, current)):
            return
        before = _kinds(self._signature)
        now = inspect.signature(self._function)
        if _kinds(now) != before:
            raise ArgumentError(
                f"{self._function.__name__} was given other parameters after it was jitted: {now}",
                help="jit it again",
            )
        self._read()

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[PyTree, ...], dict[str, PyTree]]:
        """The flattened arguments of a call.

        Raises:
            ArgumentError: An argument contains itself, is too deep, or has too many leaves.
        """
        names = (f"`{name}`" for name in self.names)
        positional = tuple(flatten(value, next(names, f"argument {index}")) for index, value in enumerate(args))
        return positional, {name: flatten(value, f"`{name}`") for name, value in kwargs.items()}

    def objects(self, args: Sequence[PyTree], kwargs: Mapping[str, PyTree]) -> dict[str, Any]:
        """The arguments of a call that are objects of the user's (`is_object`), by parameter.

        Empty if the call has no tensor: then an object is in the place of a tensor, which is an error.
        """
        places = zip(self._positional_names, args, strict=False)
        given = [*places, *((name, tree) for name, tree in kwargs.items() if name in self.names)]
        objects = {name: tree.leaves[0] for name, tree in given if is_object(tree)}
        return objects if objects and any(map(is_tensor, (leaf for _, tree in given for leaf in tree.leaves))) else {}

    def bind(self, args: tuple[PyTree, ...], kwargs: dict[str, PyTree]) -> Arguments:
        """The arguments of a call by parameter, with defaults.

        Raises:
            ArgumentError: The arguments do not fit the parameters.
        """
        if not kwargs and len(args) == self.positional:
            return Arguments(dict(zip(self.names, args, strict=True)), frozenset(self.names))
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(
                f"Invalid arguments for function {self._function.__name__}: {error}",
                help=f"it is called as {self._function.__name__}{self._signature}",
            ) from None
        defaults = {name for name in self.names if name not in bound.arguments}
        bound.apply_defaults()
        trees = {name: self._tree(name, value, is_default=name in defaults) for name, value in bound.arguments.items()}
        return Arguments(trees, trees.keys() - defaults | self._variable)

    def has_fixed_defaults(self, arguments: Arguments) -> bool:
        """Whether the defaults that a call uses can change only by assigning ``__defaults__``, which guards check.

        Containers are mutable, and so is ``__kwdefaults__``, a dict.
        """
        left = [(name, tree) for name, tree in arguments.trees.items() if name not in arguments.given]
        kinds = {self._signature.parameters[name].kind for name, _ in left}
        scalars = all(tree.treedef is LEAF and is_scalar_class(type(tree.leaves[0])) for _, tree in left)
        return scalars and inspect.Parameter.KEYWORD_ONLY not in kinds

    def _tree(self, name: str, value: Any, *, is_default: bool) -> PyTree:
        if name in self._variable:
            return join(value.values(), tuple(value)) if isinstance(value, dict) else join(value)
        tree: PyTree = flatten(value, f"`{name}`") if is_default else value
        return tree


def plain_parameters(signature: inspect.Signature) -> PlainParameters | None:
    """The parameters of a function if all are positional; None if others exist."""
    kinds = [kind for _, kind in _kinds(signature)]
    if not {*kinds} <= _POSITIONAL_KINDS:
        return None
    return tuple(signature.parameters), kinds.count(inspect.Parameter.POSITIONAL_ONLY)


_POSITIONAL_KINDS = frozenset({inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD})


def _signature_parts(function: types.FunctionType) -> tuple[object, ...]:
    """The parts of a function that determine its signature."""
    keywords = function.__kwdefaults__ or {}
    return function.__code__, function.__defaults__, *keywords, *keywords.values()


def _kinds(signature: inspect.Signature) -> list[tuple[str, inspect._ParameterKind]]:
    return [(name, parameter.kind) for name, parameter in signature.parameters.items()]
