"""Binaries and descriptions of systems, loaded from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_jit.tools.ttrt.command_stages import SkippedError
from ttnn_jit.tools.ttrt.found_files import TTMETAL
from ttnn_jit.tools.ttrt.system_comparison import differences, is_system_chosen, target_of_json

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.target import SystemDesc
    from ttnn_jit.tools.ttrt.artifact_folders import Artifacts
    from ttnn_jit.tools.ttrt.found_files import FileManager
    from ttnn_jit.tools.ttrt.query_command import Query
    from ttnn_jit.tools.ttrt.ttrt_logger import Logger
    from ttnn_jit.ttmlir.ttmlir_runtime.data_types import DataType


class Flatbuffer:
    """A file that ttrt reads.

    Args:
        logger: The log.
        file_manager: Not used.
        file_path: The file.
        capsule: A binary of this process instead of a file.

    Attributes:
        fbb: What the file holds.
    """

    ttnn_file_extension, ttmetal_file_extension, ttsys_file_extension = ".ttnn", ".ttm", ".ttsys"
    fbb: Any

    def __init__(self, logger: Logger, file_manager: FileManager | None, file_path: str, capsule: Any = None) -> None:
        self.logger, self.file_manager = logger, file_manager
        self.file_path = "<binary-from-capsule>" if capsule is not None else file_path
        self.name = Path(self.file_path).name
        self.extension = Path(self.file_path).suffix
        self.test_result = "pass"

    @property
    def version(self) -> str:
        """The version of the compiler that wrote it."""
        return str(self.fbb.version)

    def check_version(self, ignore: bool = False) -> bool:
        """Whether it is of the version that is read here.

        Raises:
            SkippedError: It is not, and `ignore` is False.
        """
        if not self.fbb.check_schema_hash():
            text = f"{self.file_path} is of version {self.version} and another schema"
            if not ignore:
                raise SkippedError(f"{text}; compile it again with this version, or give --ignore-version")
            self.logger.get_logger().warning("%s; it is read all the same", text)
        return True


class BinaryProgram:
    """A program of a binary.

    Args:
        index: Its number.
        binary: What the file holds.

    Attributes:
        input_tensors: The inputs of the last run, each a list of the tensors of devices.
        output_tensors: Its outputs, likewise.
    """

    def __init__(self, index: int, binary: Any) -> None:
        self.index, self.fbb = index, binary
        self.name = binary.get_program_name(index)
        self.inputs = json.loads(binary.get_program_inputs_as_json(index))
        self.outputs = json.loads(binary.get_program_outputs_as_json(index))
        self.mesh_shape = list(binary.get_program_mesh_shape(index))
        self.input_tensors: list[list[Any]] = []
        self.output_tensors: list[list[Any]] = []

    def num_inputs(self) -> int:
        """The number of its inputs."""
        return len(self.inputs)

    def num_outputs(self) -> int:
        """The number of its outputs."""
        return len(self.outputs)

    def is_private(self) -> bool:
        """Whether only other programs call it."""
        return bool(self.fbb.is_program_private(self.index))

    @staticmethod
    def to_data_type(dtype: torch.dtype) -> DataType:
        """The dtype of the runtime for one of torch.

        Raises:
            ValueError: There is none.
        """
        from ttnn_jit.ttmlir.ttmlir_runtime.data_types import OF_TORCH

        if dtype not in OF_TORCH:
            raise ValueError(f"the runtime has no dtype for {dtype}")
        return OF_TORCH[dtype]

    @staticmethod
    def from_data_type(dtype: str) -> torch.dtype:
        """The dtype of torch for the name of one of the runtime.

        Raises:
            ValueError: There is none.
        """
        from ttnn_jit.ttmlir.ttmlir_runtime.data_types import TORCH_DTYPES, DataType

        members = DataType.__members__
        found = TORCH_DTYPES.get(members[dtype]) if dtype in members else None
        if found is None:
            raise ValueError(f"torch has no dtype for {dtype}")
        return found


def _loaded(path: str, *, ignore_version: bool) -> Any:
    from ttnn_jit.ttmlir.ttmlir_runtime import metal_binary, program_binary

    if path.endswith(TTMETAL):
        return metal_binary.MetalBinary(Path(path).read_bytes(), path, ignore_version=ignore_version)
    return program_binary.Binary.load(path, ignore_version=ignore_version)


class Binary(Flatbuffer):
    """A compiled binary.

    Args:
        logger: The log.
        file_manager: Not used.
        file_path: The file.
        capsule: A binary of this process instead of a file.
        ignore_version: Read a file of another version or schema as far as it fits.

    Attributes:
        programs: Its programs.
        program_results: The times of runs, by program and loop.

    Raises:
        TtnnJitError: The file is no binary, or a damaged one.
    """

    Program = BinaryProgram

    def __init__(
        self,
        logger: Logger,
        file_manager: FileManager | None,
        file_path: str,
        capsule: Any = None,
        *,
        ignore_version: bool = False,
    ) -> None:
        super().__init__(logger, file_manager, file_path, capsule)
        self.fbb = _loaded(file_path, ignore_version=ignore_version) if capsule is None else capsule
        self.programs = [BinaryProgram(index, self.fbb) for index in range(self.fbb.get_num_programs())]
        self.program_indices = range(len(self.programs))
        self.program_results: dict[str, dict[str, dict[str, int | None]]] = {}

    @property
    def system_desc_dict(self) -> dict[str, Any]:
        """The description of the system for which it was compiled."""
        return dict(json.loads(self.fbb.get_system_desc_as_json() or "{}"))

    @property
    def target(self) -> SystemDesc:
        """The system for which it was compiled.

        Raises:
            ArgumentError: It holds no description, or one of an unknown architecture.
        """
        return target_of_json(self.fbb.get_system_desc_as_json(), self.file_path)

    def check_system_desc(self, query: Query, ignore: bool = False) -> bool:
        """Whether it was compiled for the system of a query.

        Raises:
            SkippedError: It was not, and `ignore` is False.
        """
        found = differences(self.target, query.target)
        if found and not ignore:
            raise SkippedError(f"system desc for device did not match flatbuffer {self.file_path}: {'; '.join(found)}")
        return not found

    def require_system(self, query: Query, *, ignore: bool) -> None:
        """Refuses a binary of another system, if the user says which one this is; else this is the binary's own.

        Raises:
            SkippedError: It is of another system, and `ignore` is False.
        """
        found = differences(self.target, query.target) if is_system_chosen() else []
        if found and not ignore:
            raise SkippedError(
                f"{self.file_path} was compiled for another system: {'; '.join(found)}; compile it with the "
                "description of SYSTEM_DESC_PATH, or give --ignore-version"
            )
        if found:
            self.logger.get_logger().warning(
                "%s was compiled for another system, and runs all the same: %s", self.file_path, "; ".join(found)
            )

    @property
    def has_goldens(self) -> bool:
        """Whether it holds tensors to which results are compared."""
        return any(self.fbb.get_debug_info_golden(name) for name in ("input_0", "output_0"))

    def save(self, artifacts: Artifacts, query: Query | None = None) -> None:
        """Saves the file, the tensors of its programs and the system of a query as artifacts."""
        artifacts.save_binary(self, query)

    def get_num_programs(self) -> int:
        """The number of its programs."""
        return len(self.programs)

    def check_program_index_exists(self, program_index: int) -> bool:
        """Whether it has a program of that number."""
        return 0 <= program_index < len(self.programs)

    def get_program(self, program_index: int) -> BinaryProgram:
        """The program of that number."""
        return self.programs[program_index]

    def chosen_programs(self, index: str) -> list[BinaryProgram]:
        """The public programs, or the one of that number.

        Raises:
            SkippedError: There is no such program.
        """
        if index == "all":
            return [each for each in self.programs if not each.is_private()]
        if not index.isdecimal() or not self.check_program_index_exists(int(index)):
            raise SkippedError(f"{self.file_path} has {len(self.programs)} programs, and none of the number {index}")
        return [self.programs[int(index)]]

    def add_program_results(
        self, program_index: int, loop: int, submitted: int, fetched: int, of_operations: int | None = None
    ) -> None:
        """Records the times of one loop, in nanoseconds.

        Args:
            program_index: The program.
            loop: The loop.
            submitted: From the submission to its end.
            fetched: To fetch the outputs.
            of_operations: The sum over operations; None where they were not measured one by one.
        """
        self.program_results.setdefault(f"program_index_{program_index}", {})[f"loop_{loop}"] = {
            "total_duration_ns": submitted + fetched,
            "total_submit_duration_ns": submitted,
            "total_get_outputs_duration_ns": fetched,
            "total_submit_plus_get_outputs_duration_ns": submitted + fetched,
            "total_ttnn_api_duration_ns": of_operations,
            "total_device_kernel_duration_ns": None,  # no kernel of a device runs
        }


class SystemFile(Flatbuffer):
    """A file with the description of a system.

    Raises:
        ArgumentError: It is no description.
    """

    def __init__(self, logger: Logger, file_manager: FileManager | None, file_path: str) -> None:
        super().__init__(logger, file_manager, file_path)
        from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import load_system_desc_from_path

        self.fbb = load_system_desc_from_path(file_path)

    @property
    def system_desc_dict(self) -> dict[str, Any]:
        """What the file holds."""
        return dict(json.loads(self.fbb.as_json()))

    @property
    def target(self) -> SystemDesc:
        """The system that it describes."""
        return target_of_json(self.fbb.as_json(), self.file_path)
