"""Binaries: the module of a compiled program, with its programs and their inputs and outputs."""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import Any, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.compiler.texts.metal_programs import MetalModule
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend.ir.texts import entries_of
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import OF_TORCH, device_dtype
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import load_system_desc_from_path


class Binary:
    """A program that the runtime submits.

    Args:
        module: Its module.

    Attributes:
        id: Its number in this process.
        file_identifier: That of upstream's format.
    """

    _made = 0

    file_identifier = "TTNN"
    version = "0.1.0"

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        Binary._made += 1
        self.id = Binary._made

    @classmethod
    def of_module(cls, module: ModuleOp) -> Self:
        """The binary of a module, which may change afterwards."""
        return cls(module.clone())

    @cached_property
    def text_module(self) -> TextModule:
        """Its functions."""
        return TextModule(self._module, resolve_target("cpu"), mesh_of(self._module))

    def get_mlir_as_json(self) -> str:
        """The text of its module, with locations."""
        return json.dumps({"name": "module", "source": print_module(self._module, locations=True)})

    @cached_property
    def names(self) -> list[str]:
        """The names of its programs."""
        return [*entries_of(self._module)]

    def get_num_programs(self) -> int:
        """The number of programs."""
        return len(self.names)

    def get_program_name(self, program_index: int) -> str:
        """The name of a program."""
        return self.names[program_index]

    def is_program_private(self, program_index: int) -> bool:  # noqa: ARG002 - entries are public
        """Whether a program is only called by others."""
        return False

    def get_program_inputs_as_json(self, program_index: int) -> str:
        """The shapes and dtypes of a program's inputs."""
        return json.dumps(self._described(program_index, inputs=True))

    def get_program_outputs_as_json(self, program_index: int) -> str:
        """The shapes and dtypes of a program's outputs."""
        return json.dumps(self._described(program_index, inputs=False))

    def _described(self, program_index: int, *, inputs: bool) -> list[dict[str, Any]]:
        program = self.text_module.program(self.names[program_index])
        function: FuncOp = self.text_module.functions[self.names[program_index]]
        specs = program.arguments if inputs else program.results
        attributes = function.arg_attrs if inputs else function.res_attrs
        return [_description(spec, attributes, index) for index, spec in enumerate(specs)]

    def presharded_results(self, program_index: int) -> list[bool]:
        """Whether each result has a part per device, as its attributes say."""
        described = self._described(program_index, inputs=False)
        return [each["desc"]["shard_status"] == "Presharded" for each in described]

    def as_json(self) -> str:
        """All that is known of it."""
        programs = [
            {
                "name": name,
                "inputs": self._described(index, inputs=True),
                "outputs": self._described(index, inputs=False),
            }
            for index, name in enumerate(self.names)
        ]
        return json.dumps({"version": self.version, "programs": programs, "mlir": print_module(self._module)})


class MetalBinary(Binary):
    """A program whose kernels of d2m are executed, as `ttir_to_ttmetal_backend_pipeline` left them.

    Args:
        module: Its module.
    """

    file_identifier = "TTM0"

    @cached_property
    def text_module(self) -> TextModule:
        """Its functions."""
        return MetalModule(self._module)

    @cached_property
    def names(self) -> list[str]:
        """The names of its programs."""
        return MetalModule(self._module).names


def _description(spec: Any, attributes: Any, index: int) -> dict[str, Any]:
    kind = OF_TORCH[device_dtype(spec.dtype.torch)]
    held = {} if attributes is None else attributes.data[index].data
    status = str(held.get("ttcore.shard_status", ""))
    return {
        "desc": {
            "shape": list(spec.shape),
            "layout": {"memory_desc": {"data_type": kind.name}},
            "shard_status": "Presharded" if "presharded" in status else "Unsharded",
        }
    }


def mesh_of(module: ModuleOp) -> tuple[int, ...]:
    """The extents of the mesh that a module names; one device if it names none."""
    meshes = module.attributes.get("ttcore.meshes")
    if meshes is None:
        return (1,)
    shape = tuple(meshes.value("meshes")[0].value("shape"))  # type: ignore[attr-defined]  # a table's attribute
    return shape if math.prod(shape) > 1 else (1,)


def load_binary_from_capsule(capsule: Binary) -> Binary:
    """The binary that a pipeline gave."""
    return capsule


__all__ = ["Binary", "load_binary_from_capsule", "load_system_desc_from_path"]
