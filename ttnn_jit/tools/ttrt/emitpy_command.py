"""``ttrt emitpy``: runs Python programs that a compiler wrote, and compares them with their binaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.emitpy.emitted_functions import EmittedFunction, called, functions_in, made_inputs
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.tools.ttrt.command_stages import Command, SkippedError
from ttnn_jit.tools.ttrt.found_files import PYTHON, TTNN, files_below
from ttnn_jit.tools.ttrt.loaded_binaries import Binary
from ttnn_jit.tools.ttrt.option_declarations import ALL_PROGRAMS, COMMANDS
from ttnn_jit.tools.ttrt.result_files import WrongResultError
from ttnn_jit.tools.ttrt.run_command import WARM_UP_LOOPS, Run
from ttnn_jit.tools.ttrt.runs.emitted_programs import imported
from ttnn_jit.tools.ttrt.system_comparison import rules_on_cpu

if TYPE_CHECKING:
    import torch

_TO_RUN = (
    "--program-index", "--disable-golden", "--memory", "--benchmark", "--ignore-version", "--disable-ttrt-callbacks",
    "--print-input-output-tensors", "--save-artifacts",
)  # fmt: skip
"""Options that the run of a binary gets too."""
_PCC, _ATOL, _RTOL = 0.99, 1e-08, 1e-05


class EmitPy(Command):
    """Runs every function of Python programs on ttnn_jit's ttnn."""

    declaration = COMMANDS["emitpy"]

    def check_constraints(self) -> None:
        """Finds the programs."""
        self._paths = self.files_of(lambda path: files_below(path, [PYTHON]), self["dylib"])
        self.artifacts.name_files(self._paths)

    def execute(self) -> None:
        """Runs every program."""
        index = "0" if self["--benchmark"] else self["--program-index"]
        for path in self._paths:
            with self.recorded(path, program_index=index) as more:
                more["device"] = rules_on_cpu(resolve_target(None))
                binary = self._binary_of(path)
                functions = functions_in(Path(path).read_text(encoding="utf-8"), path)
                with imported(path) as module:
                    for number in _chosen(functions, index, path):
                        self._run(path, module, functions[number], number, binary)

    def _binary_of(self, path: str) -> Binary | None:
        """The binary of a program, whose outputs are now known; None if none was given."""
        given = self["--flatbuffer"]
        if not given:
            return None
        wanted = given
        if Path(given).is_dir():
            name = Path(path).with_suffix(TTNN).name
            wanted = next((each for each in files_below(given, [TTNN]) if Path(each).name == name), "")
            if not wanted:
                raise ArgumentError(f"the folder {given} holds no {name}")
        run = Run({name: self[name] for name in _TO_RUN} | {"binary": wanted}, self.logger, self.artifacts)
        run.keeps_binaries = True
        run.check_constraints()
        run.execute()
        wrong = [each for each in run.results.get_results() if each["result"] != "pass"]
        if wrong:
            raise WrongResultError(f"its binary did not run: {wrong[0]['exception']}")
        return run.binaries[-1]

    def _run(self, path: str, module: ModuleType, function: EmittedFunction, index: int, binary: Binary | None) -> None:
        loops = WARM_UP_LOOPS if self["--benchmark"] else self["--loops"]
        for _ in range(loops):
            inputs = self._inputs(module, function, index, binary)
            given = [_torch_of(each) for each in inputs]
            outputs = [_torch_of(each) for each in called(module, function, inputs, _device(function))]
            self._show(path, index, given, outputs)
            if binary is not None:
                _compare(outputs, [shards[0] for shards in binary.programs[index].output_tensors], function.name)

    def _inputs(self, module: ModuleType, function: EmittedFunction, index: int, binary: Binary | None) -> list[Any]:
        """The inputs that the program makes, with the numbers of those of its binary."""
        if binary is None:
            return made_inputs(module, function)
        from ttnn_jit import ttnn
        from ttnn_jit.tools.ttrt.runs.emitted_utils import DeviceGetter

        wanted = [shards[0] for shards in binary.programs[index].input_tensors]
        if not function.makes_inputs:
            device = DeviceGetter.get_device((1, 1))
            return [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in wanted]
        made = made_inputs(module, function)
        if len(made) != len(wanted):
            raise WrongResultError(f"{function.name} takes {len(made)} inputs, and its binary {len(wanted)}")
        return [
            ttnn.from_torch(tensor, dtype=like.dtype, layout=like.layout, device=like.device())
            for tensor, like in zip(wanted, made, strict=True)
        ]

    def _show(self, path: str, index: int, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> None:
        """Saves and prints tensors, as options say."""
        folder = f"{self.artifacts.folder_of_file(path)}/emitpy/program_{index}"
        for kind, tensors in (("input", inputs), ("output", outputs)):
            for number, each in enumerate(tensors):
                if self["--save-artifacts"]:
                    self.artifacts.save_torch_tensor(folder, each, f"emitpy_{kind}_{number}.pt")
                if self["--print-input-output-tensors"]:
                    self.log.info("program %s, %s %s:\n%s", index, kind, number, each)


def _chosen(functions: Sequence[EmittedFunction], index: str, path: str) -> list[int]:
    if index == ALL_PROGRAMS:
        return list(range(len(functions)))
    if not index.isdecimal() or int(index) >= len(functions):
        raise SkippedError(f"{path} has {len(functions)} functions, and none of the number {index}")
    return [int(index)]


def _device(function: EmittedFunction) -> Any:
    """The device on which a function prepares what it reads; None if it prepares nothing."""
    from ttnn_jit.tools.ttrt.runs.emitted_utils import DeviceGetter

    return DeviceGetter.get_device((1, 1)) if function.preparation else None


def _torch_of(tensor: Any) -> torch.Tensor:
    from ttnn_jit import ttnn

    return ttnn.to_torch(tensor)


def _compare(got: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], name: str) -> None:
    from ttnn_jit.tools.ttrt.runs.golden_comparison import compared, why_wrong

    if len(got) != len(expected):
        raise WrongResultError(f"{name} gives {len(got)} outputs, and its binary {len(expected)}")
    for index, (own, other) in enumerate(zip(got, expected, strict=True)):
        if own.shape != other.shape:
            raise WrongResultError(
                f"output {index} of {name} has the shape {list(own.shape)}, and {list(other.shape)} in its binary"
            )
        entry = compared(other, own, _PCC, _ATOL, _RTOL)
        if not entry["matches"]:
            raise WrongResultError(f"output {index} of {name} differs from that of its binary: {why_wrong(entry)}")
