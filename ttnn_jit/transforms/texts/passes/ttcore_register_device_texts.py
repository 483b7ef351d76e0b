"""ttcore-register-device: gives a text the description of a system, and its device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.system_descriptions import register_device
from ttnn_jit.specs.target import PRESETS, SYSTEMS, SystemDesc, read_target
from ttnn_jit.transforms.texts.text_pass import TextPass

_SYSTEMS = PRESETS | SYSTEMS
_TOPOLOGIES = ("ring", "linear", "disabled")


@dataclass(frozen=True)
class TTCoreRegisterDeviceText(TextPass):
    """Adds `ttcore.system_desc` and the op `ttcore.device`, where the module has none.

    Attributes:
        system_desc_path: A JSON file, or a system's name: n150, n300, t3000, galaxy, p150, cpu-host.
        mock_system_desc_arch: The architecture without a file: wormhole_b0 or blackhole.
        mesh_shape: The mesh; by default that of the module's `ttcore.meshes`, or of the system.
        mesh_topology: How the devices along each axis are linked: ring, linear or disabled; by default it is not said.
    """

    name = "ttcore-register-device"

    system_desc_path: str = ""
    mock_system_desc_arch: str = "wormhole_b0"
    mesh_shape: tuple[int, ...] = ()
    mesh_topology: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks the architecture."""
        super().__post_init__()
        if self.mock_system_desc_arch not in {"wormhole_b0", "blackhole"}:
            raise ArgumentError(f"`mock-system-desc-arch={self.mock_system_desc_arch}`: it is wormhole_b0 or blackhole")
        wrong = [each for each in self.mesh_topology if each not in _TOPOLOGIES]
        if wrong:
            raise ArgumentError(f"`mesh-topology={wrong[0]}`: it is {', '.join(_TOPOLOGIES)}")

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Registers the device of a module."""
        is_mock = not self.system_desc_path
        linked = self.mesh_topology
        register_device(module, self._target(), self.mesh_shape, rewriter, topology=linked, is_mock=is_mock)

    def _target(self) -> SystemDesc | None:
        path = self.system_desc_path
        if not path:
            return None if self.mock_system_desc_arch == "wormhole_b0" else PRESETS[self.mock_system_desc_arch]
        preset = _SYSTEMS.get("cpu" if path == "cpu-host" else path.lower())
        return preset if preset is not None and not Path(path).exists() else read_target(path)
