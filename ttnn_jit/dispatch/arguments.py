"""The flattened arguments of one call: their leaves, the tensors among them, and their cache key.

A key contains metadata only: interned `TensorSpec` objects by identity, scalars by type and bits.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Collection, Hashable, Iterable, Mapping, Set
from itertools import islice
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.container_items import PYTHONS_SCALARS, plain_parts
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.pytrees import LEAF, PyTree, TreeDef, flatten
from ttnn_jit.foreign.values import (
    atom_key,
    has_member,
    is_a,
    is_atom,
    is_identity,
    is_operation,
    is_python_class,
    own_attributes,
)
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.libraries import MESH, TTNN, TensorLibrary, tensor_library_of
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.mutable_values import frozen
from ttnn_jit.specs.spec_forms import form_of
from ttnn_jit.specs.tensor_spec import (
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    MemoryConfig,
    NdShardSpec,
    ShardSpec,
    TensorSpec,
)

_CONFIGS = (MemoryConfig, ShardSpec, NdShardSpec, CoreRangeSet, CoreRange, CoreCoord, CoreGrid)


class Arguments:
    """The arguments of one call, bound to the parameters of its function.

    Attributes:
        trees: The arguments by parameter.
        given: The parameters that the call passed; the others have their defaults.
        leaves: The leaves of all trees, in order.
        libraries: Per leaf: the library of a tensor, None for other leaves.
        tensors: The leaves that are tensors.
    """

    def __init__(self, trees: Mapping[str, PyTree], given: Set[str]) -> None:
        self.trees = trees
        self.given = given
        self.leaves = [frozen(leaf) for tree in trees.values() for leaf in tree.leaves]
        self.libraries = [_library_of_leaf(leaf) for leaf in self.leaves]
        self.tensors = [leaf for leaf, library in zip(self.leaves, self.libraries, strict=True) if library is not None]

    @cached_property
    def specs(self) -> list[TensorSpec | None]:
        """Per leaf: the spec of a tensor, None for other leaves.

        Raises:
            DTypeError, LayoutError, ArgumentError: Compiled functions do not accept a tensor.
        """
        pairs = zip(self.leaves, self.libraries, strict=True)
        return [None if library is None else library.spec_of(leaf) for leaf, library in pairs]

    def key(self) -> tuple[object, ...]:
        """The cache key of the call on one target: equal keys mean equal metadata.

        Raises:
            ArgumentError: Compiled functions do not accept the type of a leaf.
        """
        structures = [_structure_key(tree.treedef) for tree in self.trees.values()]
        return (*structures, *map(_leaf_key, self.leaves, self.libraries, self.specs))

    def key_without_sizes(self, *, open_classes: Collection[type]) -> tuple[object, ...]:
        """The key without what templates leave open: the shapes of tensors, and numbers of these classes."""
        structures = [_structure_key(tree.treedef) for tree in self.trees.values()]
        leaves = zip(self.leaves, self.libraries, self.specs, strict=True)
        return (*structures, *(_leaf_key_without_size(*each, open_classes) for each in leaves))

    def keys_by_parameter(self) -> dict[str, tuple[object, ...]]:
        """The parts of the key, by parameter."""
        leaves = map(_leaf_key, self.leaves, self.libraries, self.specs)
        return {
            name: (_structure_key(tree.treedef), *islice(leaves, len(tree.leaves))) for name, tree in self.trees.items()
        }

    def with_specs(self) -> dict[str, Any]:
        """The arguments by parameter, with specs for the tensors."""
        leaves = (leaf if spec is None else spec for leaf, spec in zip(self.leaves, self.specs, strict=True))
        return {name: tree.treedef.unflatten(leaves) for name, tree in self.trees.items()}

    def numbers(self) -> dict[str, Any]:
        """The arguments that are numbers, or containers of integers (as tuples), by parameter."""
        alone = {name: tree.leaves[0] for name, tree in self.trees.items() if tree.treedef is LEAF}
        numbers = {name: leaf for name, leaf in alone.items() if type(leaf) in {int, float} or is_numpy_scalar(leaf)}
        several = {name: tuple(tree.leaves) for name, tree in self.trees.items() if tree.treedef is not LEAF}
        return numbers | {name: leaves for name, leaves in several.items() if {*map(type, leaves)} == {int}}


def _library_of_leaf(leaf: Any) -> TensorLibrary | None:
    kind = type(leaf)
    if kind is Tensor:
        return TTNN
    return None if kind in PYTHONS_SCALARS else tensor_library_of(leaf)


def tensor_proxies(leaves: Iterable[Any]) -> list[Any]:
    """The leaves that are proxies of tensors: in a trace, or on the devices of a mesh."""
    return [leaf for leaf in leaves if _is_tensor_proxy_class(type(leaf))]


def is_tensor(value: object) -> bool:
    """Whether `value` is a tensor of any library, or a proxy of one."""
    return tensor_library_of(value) is not None or _is_tensor_proxy_class(type(value))


def is_object(tree: PyTree) -> bool:
    """Whether an argument is a device, or an object of the user's that is not a container, scalar or tensor.

    Its attributes are guarded, like those of a method's instance; it is not in the cache key.
    """
    (leaf, *others), kind = tree.leaves or (None,), tree.treedef.kind
    if others or kind is not None or type(leaf) in PYTHONS_SCALARS or is_tensor(leaf) or is_atom(leaf):
        return False
    known = is_identity(leaf) or is_a(leaf, enum.Enum, *_CONFIGS) or plain_parts(leaf) is not None
    return not known and (is_python_class(type(leaf)) or is_a(leaf, Device))


def _is_tensor_proxy_class(kind: type) -> bool:
    # By the class: an instance may have any attribute (`__getattr__`).
    return kind is not Tensor and kind not in PYTHONS_SCALARS and has_member(kind, "__ttnn_call__")


# --- Keys -----------------------------------------------------------------------------------------------------------


def _structure_key(treedef: TreeDef) -> Hashable:
    if treedef is LEAF:
        return None
    kind, names, items, container, *_ = treedef
    own = () if container is None else _attributes_key(container, fields=() if is_a(container, dict) else names or ())
    return kind, None if names is None else tuple(map(_name_key, names)), own, *map(_structure_key, items)


def _name_key(name: Any) -> object:
    """The cache key of a dict's key: Python treats 1, 1.0 and True, and the two zeros, as equal keys."""
    return (type(name), *map(_name_key, name)) if is_a(name, tuple) else atom_key(name)


def _attributes_key(value: Any, fields: Collection[str] = ()) -> tuple[object, ...]:
    """The cache key of the attributes of a container or scalar of the user's, other than `fields`."""
    own = {name: held for name, held in own_attributes(value).items() if name not in fields}
    return Arguments({"": flatten(own)}, frozenset()).key() if own else ()


def _leaf_key_without_size(
    leaf: Any, library: TensorLibrary | None, spec: TensorSpec | None, open_classes: Collection[type]
) -> object:
    if spec is not None:
        return (library, form_of(spec), library.placement_of(leaf)) if library is MESH else (library, form_of(spec))
    return type(leaf) if type(leaf) in open_classes else _leaf_key(leaf, library, spec)


def _leaf_key(leaf: Any, library: TensorLibrary | None, spec: TensorSpec | None) -> object:  # noqa: PLR0911 - a line each
    if spec is not None:
        if library is MESH:
            return library, spec, library.placement_of(leaf)
        return spec if library is TTNN else (library, spec)
    kind = type(leaf)
    if kind in PYTHONS_SCALARS or is_numpy_scalar(leaf):
        return atom_key(leaf)
    if issubclass(kind, enum.Enum) and "_name_" in own_attributes(leaf):
        return kind, leaf._name_, leaf._value_ if issubclass(kind, enum.Flag) else None
    parts = plain_parts(leaf)
    if parts is not None:
        return kind, atom_key(parts[0]), _attributes_key(leaf)
    if is_a(leaf, types.FunctionType, types.BuiltinFunctionType):
        return leaf
    if is_operation(leaf):
        # With its current declarations: a tile operation whose reads have changed is another operation.
        return leaf.__name__, *leaf.__ttnn_overloads__
    if is_a(leaf, *_CONFIGS):
        return kind, leaf
    if is_atom(leaf):
        return atom_key(leaf)
    raise ArgumentError(
        f"a {kind.__name__} cannot be an argument of a compiled function",
        help="pass ttnn, torch or numpy tensors, scalars, strings, dtypes and configs of ttnn, or tuples, lists, dicts "
        "and dataclasses of these; an object of a class of yours is an argument of its own",
    )
