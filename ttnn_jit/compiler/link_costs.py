"""What the collectives of a program cost on the links of a machine of chips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttnn_jit.dialects.declared_ops import CollectiveOp
    from ttnn_jit.ops.collectives.link_fit import LinkFit
    from ttnn_jit.specs.meshes.machine import Machine


@dataclass(frozen=True)
class CollectiveCost:
    """A collective on the links of a machine.

    Attributes:
        name: Its Python name.
        location: ``file:line``.
        devices: The devices that exchange with each other.
        tensor_bytes: Bytes of the operand on each device.
        link_bytes: The least bytes that a link moves in one direction, whatever the algorithm.
        bound: The seconds that these bytes take at the physical rate.
        estimate: The seconds that the fit says.
    """

    name: str
    location: str
    devices: int
    tensor_bytes: int
    link_bytes: float
    bound: float
    estimate: float

    def __str__(self) -> str:
        place = f" at {self.location}" if self.location else ""
        return (
            f"{self.name} of {self.tensor_bytes:,} bytes among {self.devices} devices{place}: a link moves at least "
            f"{self.link_bytes:,.0f} bytes one way, {_time(self.bound)} or more; estimate {_time(self.estimate)}"
        )


@dataclass(frozen=True)
class LinkCosts:
    """The collectives of a program on the links of a machine.

    Attributes:
        machine: The machine.
        fit: Where the estimates come from.
        collectives: The collectives that use links, in order.
    """

    machine: Machine
    fit: LinkFit
    collectives: tuple[CollectiveCost, ...]

    @property
    def bound(self) -> float:
        """The seconds that all of them take at least, one after the other."""
        return sum(each.bound for each in self.collectives)

    @property
    def estimate(self) -> float:
        """The seconds that all of them take by the fit, one after the other."""
        return sum(each.estimate for each in self.collectives)

    def lines(self) -> Iterator[str]:
        """The lines of a report."""
        name = self.machine.name
        if not self.collectives:
            yield f"on {name}: no collective moves anything over links"
            return
        yield from (f"on {name}: {each}" for each in self.collectives)
        yield (
            f"on {name}: all collectives {_time(self.bound)} or more at "
            f"{self.machine.bytes_per_second / 1e9:g} GB/s per link and direction; estimate {_time(self.estimate)}"
        )
        yield f"estimates: {self.fit}"


def link_costs(module: ModuleOp, machine: Machine) -> LinkCosts:
    """The costs of a module's collectives.

    Raises:
        ArgumentError: The mesh of the module does not fit the machine.
    """
    from ttnn_jit.dialects.declared_ops import CollectiveOp
    from ttnn_jit.ops.collectives.link_fit import link_fit

    costs = (_cost(op, machine) for op in module.walk() if isinstance(op, CollectiveOp))
    return LinkCosts(machine, link_fit(), tuple(cost for cost in costs if cost.link_bytes))


def _cost(op: CollectiveOp, machine: Machine) -> CollectiveCost:
    from ttnn_jit.dialects.layout import spec_of
    from ttnn_jit.dialects.locations import locations_of
    from ttnn_jit.dialects.meshes import mesh_of_op
    from ttnn_jit.ops.collectives.link_fit import link_fit
    from ttnn_jit.ops.collectives.link_traffic import link_traffic
    from ttnn_jit.specs.meshes.mesh_devices import ONE_DEVICE

    devices = mesh_of_op(op) or ONE_DEVICE
    specs = [spec_of(value.type) for value in op.operands]
    shapes = [tuple(spec.shape) for spec in specs]
    element_bytes = specs[0].nbytes / max(specs[0].volume, 1)
    results = op.operation.exchanged(devices, shapes, op.statics)
    traffic = link_traffic(results, shapes, element_bytes, devices.shape, machine)
    locations = locations_of(op)
    return CollectiveCost(
        op.operation.name,
        f"{locations[-1].file}:{locations[-1].line}" if locations else "",
        traffic.devices,
        specs[0].nbytes,
        traffic.nbytes,
        traffic.nbytes / machine.bytes_per_second,
        link_fit().seconds(traffic.nbytes),
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms"
