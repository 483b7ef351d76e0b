"""Specs of the memory of packets that programs for chips allocate; here packets do not exist."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.meshes.topology import Topology


def p2p_compute_intermediate_tensor_spec(
    input_tensor: Tensor, sender_coord: Sequence[int], receiver_coord: Sequence[int], topology: Topology
) -> TensorSpec:
    """The spec of `intermediate_tensor` of `point_to_point`: that of the tensor that is sent, in interleaved DRAM.

    On a chip it is that of its packets (ttnn._ttnn.operations.point_to_point).
    """
    return input_tensor.spec.interleaved
