"""Sockets: tensors go from the devices of one mesh to those of another, of this process or of another rank's."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call
from ttnn_jit.runtime.ranks.link import Link, LocalLink
from ttnn_jit.runtime.ranks.world import join_world
from ttnn_jit.runtime.tensors.tensor import Tensor, stored_as
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, BufferType, CoreCoord
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.rank_exchange import region_of, writable_region_of
from ttnn_jit.ttnn.meshes.exchange import device_of
from ttnn_jit.ttnn.meshes.exchange_evaluation import shards_of


class MeshCoreCoord(NamedTuple):
    """A core of a device of a mesh (ttnn.MeshCoreCoord)."""

    device_coord: MeshCoordinate
    core_coord: CoreCoord


class SocketConnection(NamedTuple):
    """The core that sends and the core that receives (ttnn.SocketConnection); the cores have no effect on a CPU."""

    sender_core: MeshCoreCoord
    receiver_core: MeshCoreCoord


class SocketMemoryConfig(NamedTuple):
    """The buffer of a socket on a chip (ttnn.SocketMemoryConfig); without effect on a CPU."""

    socket_storage_type: BufferType
    fifo_size: int
    sender_sub_device: SubDeviceId | None = None
    receiver_sub_device: SubDeviceId | None = None


class SocketConfig:
    """Which devices a socket connects, and the ranks at its ends (ttnn.SocketConfig).

    Args:
        connections: Each from a device of the sender's mesh to a device of the receiver's.
        memory_config: Buffers on chips; without effect.
        sender_rank: The rank that sends; None for sockets of one process.
        receiver_rank: The rank that receives.

    Raises:
        ArgumentError: An argument has the wrong type, or two devices send to one.
    """

    def __init__(
        self,
        connections: Sequence[SocketConnection],
        memory_config: SocketMemoryConfig,
        sender_rank: int | None = None,
        receiver_rank: int | None = None,
    ) -> None:
        for connection in connections:
            check_kind(connection, SocketConnection, "a connection of SocketConfig")
        check_kind(memory_config, SocketMemoryConfig, "`memory_config` of SocketConfig")
        self.memory_config = memory_config
        self.sender_rank = sender_rank
        self.receiver_rank = receiver_rank
        pairs = ((each.sender_core.device_coord, each.receiver_core.device_coord) for each in connections)
        self.pairs = tuple(dict.fromkeys(pairs))
        receivers = [receiver for _, receiver in self.pairs]
        if not self.pairs or len(set(receivers)) < len(receivers):
            raise ArgumentError("the connections of a SocketConfig are none, or two devices send to one")


class MeshSocket:
    """One end of a socket (ttnn.MeshSocket): the sender's or the receiver's, as the config says for this rank.

    Ranks make the sockets between two of them in the same order.

    Raises:
        ArgumentError: The config names no ranks, or this rank is neither of them.
    """

    def __init__(self, device: Device, config: SocketConfig) -> None:
        check_kind(device, Device, "the device of a MeshSocket")
        check_kind(config, SocketConfig, "the config of a MeshSocket")
        world = join_world()
        sender, receiver = config.sender_rank, config.receiver_rank
        if sender is None or receiver is None or sender == receiver or world.rank not in {sender, receiver}:
            raise ArgumentError(
                f"a socket of {world.own} needs `sender_rank` and `receiver_rank`, one of them {world.rank}, and has "
                f"{sender} and {receiver}",
                help="within one process use `ttnn.create_socket_pair`",
            )
        if not all(0 <= rank < len(world.members) for rank in (sender, receiver)):
            raise ArgumentError(f"a socket is from rank {sender} to {receiver}, of {len(world.members)} ranks")
        link = world.link(sender, receiver, lambda _: "its mesh")
        self.set_up(device, config, link, is_sender=world.rank == sender)

    def set_up(self, device: Device, config: SocketConfig, link: Link, *, is_sender: bool) -> None:
        """Set the end of a link."""
        self.device = device
        self.config = config
        self.is_sender = is_sender
        self.link = link
        self.numbers = [device.shape.number(pair[0 if is_sender else 1]) for pair in config.pairs]

    def __repr__(self) -> str:
        end = "sending" if self.is_sender else "receiving"
        return f"MeshSocket({end} end on {self.device}, {len(self.numbers)} connections)"


@host_function(observed=False)
def create_socket_pair(
    sender_mesh_device: Device, receiver_mesh_device: Device, socket_config: SocketConfig
) -> tuple[MeshSocket, MeshSocket]:
    """The two ends of a socket between meshes of this process (ttnn.create_socket_pair).

    Raises:
        ArgumentError: The config names ranks, a device is not of the mesh, or an argument has the wrong type.
    """
    world = join_world()
    for rank in (socket_config.sender_rank, socket_config.receiver_rank):
        if rank not in {None, world.rank}:
            raise ArgumentError(f"create_socket_pair is of this process, rank {world.rank}, and not of rank {rank}")
    link, ends = LocalLink(), []
    for device, is_sender in ((sender_mesh_device, True), (receiver_mesh_device, False)):
        end = MeshSocket.__new__(MeshSocket)
        end.set_up(device, socket_config, link, is_sender=is_sender)
        ends.append(end)
    return ends[0], ends[1]


@host_function(name="experimental.send_async")
def send_async(input_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    """Send the tensor of each connected device; returns at once, and an empty list (ttnn.experimental.send_async).

    Later writes to the tensor do not change what is sent.

    Raises:
        ArgumentError: The socket is the receiver's end or of another mesh, a device has no part of the tensor, or an
            argument has the wrong type.
        DistributedError: The receiver is lost.
    """
    shards = _shards(input_tensor, mesh_socket, "send_async", is_sender=True)
    copies = [
        stored_as(shard, shard.spec.with_(memory_config=HOST_MEMORY_CONFIG), None, "send_async") for shard in shards
    ]
    mesh_socket.link.send(_call("send_async", input_tensor, mesh_socket), [*map(region_of, copies)], copies)
    return []


@host_function(name="experimental.recv_async")
def recv_async(output_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    """Overwrite the tensor of each connected device with what was sent to it (ttnn.experimental.recv_async).

    Returns a list with the tensor. Of meshes of one process, the tensor must have been sent.

    Raises:
        ArgumentError: The socket is the sender's end or of another mesh, a device has no part of the tensor, or an
            argument has the wrong type.
        DistributedError: Something of another shape, dtype or layout was sent, or the sender is lost or late.
    """
    shards = _shards(output_tensor, mesh_socket, "recv_async", is_sender=False)
    mesh_socket.link.receive(_call("recv_async", output_tensor, mesh_socket), [*map(writable_region_of, shards)])
    return [output_tensor]


def _shards(tensor: Tensor, socket: MeshSocket, name: str, *, is_sender: bool) -> list[Tensor]:
    """The tensors on the connected devices."""
    if socket.is_sender is not is_sender:
        raise ArgumentError(f"{name}: {socket} is the other end")
    device = device_of(name, tensor)
    if device is not socket.device:
        raise ArgumentError(f"{name}: the socket is on {socket.device}, and the tensor on {device}")
    device.require_host_access(name)
    own = shards_of(tensor)
    if missing := [number for number in socket.numbers if number not in own]:
        raise ArgumentError(f"{name}: device {missing[0]} has no part of the tensor")
    return [own[number] for number in socket.numbers]


def _call(name: str, tensor: Tensor, socket: MeshSocket) -> Call:
    spec = tensor.spec
    operand = f"[{', '.join(map(str, spec.shape))}] {spec.dtype.name} {spec.layout.name}"
    key = blake2b(repr((operand, socket.config.pairs)).encode(), digest_size=KEY_BYTES).digest()
    return Call(f"`{name}` of {operand}", key)
