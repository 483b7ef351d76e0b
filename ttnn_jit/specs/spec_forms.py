"""Forms and sizes of specs: a form is what specs have in common that differ in their sizes alone.

The sizes of a spec are its extents, then its strides if it is not dense, then the extents of a shard if it is sharded.
The cores of a sharded tensor belong to its form.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ttnn_jit.process.dataclass import replace
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.cores.memory_config import MemoryConfig, NdShardSpec, ShardSpec
from ttnn_jit.specs.tensor_spec import TensorSpec


class SpecForm:
    """The rank of tensors in place of their shape, and the rest of their specs; compared by identity."""


@memoized(maxsize=4096)
def form_of(spec: TensorSpec) -> SpecForm:
    """The form of a spec."""
    return _form(len(spec.shape), spec.strides is None, spec.dtype, spec.layout, *config_form(spec.memory_config))


@memoized
def _form(*_: Hashable) -> SpecForm:
    return SpecForm()


def config_form(config: MemoryConfig) -> tuple[Hashable, ...]:
    """What memory configs have in common that differ in the extents of shards alone."""
    shard = _shard_spec(config)
    cores = () if shard is None else (shard.grid, shard.orientation)
    return config.memory_layout, config.buffer_type, len(config.shard_shape), *cores


def _shard_spec(config: MemoryConfig) -> ShardSpec | NdShardSpec | None:
    """The shard spec that the layout uses."""
    return (config.nd_shard_spec if config.is_nd_sharded() else config.shard_spec) if config.is_sharded() else None


def sizes_in(spec: TensorSpec) -> tuple[int, ...]:
    """The sizes of a spec."""
    return (*spec.shape, *(spec.strides or ()), *spec.memory_config.shard_shape)


def names_of_sizes_in(spec: TensorSpec, name: str) -> list[str]:
    """The names of the sizes of a tensor in messages, such as ``x.shape[0]``."""
    groups = {"shape": spec.shape, "strides": spec.strides or (), "shard_shape": spec.memory_config.shard_shape}
    return [f"{name}.{group}[{axis}]" for group, own in groups.items() for axis in range(len(own))]


def without_sizes(spec: TensorSpec) -> TensorSpec:
    """The spec of this form with sizes of 1, and strides of 0."""
    strides = 0 if spec.strides is None else len(spec.strides)
    rank = len(spec.shape)
    return with_sizes(spec, (1,) * rank + (0,) * strides + (1,) * (len(sizes_in(spec)) - rank - strides))


def with_sizes(spec: TensorSpec, sizes: Sequence[int]) -> TensorSpec:
    """The spec of the same form with other sizes."""
    rank, strides = len(spec.shape), None
    shape, rest = sizes[:rank], tuple(sizes[rank:])
    if spec.strides is not None:
        strides, rest = rest[:rank], rest[rank:]
    config = with_shard_shape(spec.memory_config, rest) if rest else spec.memory_config
    return TensorSpec(shape, spec.dtype, spec.layout, config, strides=strides)


def with_shard_shape(config: MemoryConfig, shape: Sequence[int]) -> MemoryConfig:
    """The sharded config of the same form with other extents of a shard."""
    shard = _shard_spec(config)
    assert shard is not None, "a config with a shard's shape has a shard spec"
    if isinstance(shard, ShardSpec):
        return replace(config, shard_spec=ShardSpec(shard.grid, shape, shard.orientation))
    nd = NdShardSpec(shape, shard.grid, shard.orientation)
    return replace(config, shard_spec=None, nd_shard_spec=nd)  # the spec of a tensor finds the one in two dimensions
