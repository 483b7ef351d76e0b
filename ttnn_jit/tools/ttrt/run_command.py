"""``ttrt run``: runs binaries, and compares what they compute with goldens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.found_files import BINARIES, TTMETAL, files_below
from ttnn_jit.tools.ttrt.loaded_binaries import Binary, BinaryProgram
from ttnn_jit.tools.ttrt.option_declarations import CHIP, COMMANDS
from ttnn_jit.tools.ttrt.query_command import Query
from ttnn_jit.tools.ttrt.result_files import WrongResultError
from ttnn_jit.tools.ttrt.system_comparison import rules_on_cpu

if TYPE_CHECKING:
    import torch

    from ttnn_jit.tools.ttrt.runs.op_callbacks import CallbackRuntimeConfig
    from ttnn_jit.tools.ttrt.runs.program_inputs import Shards
    from ttnn_jit.tools.ttrt.runs.submitted_programs import Hooks, Submitted
    from ttnn_jit.ttmlir.ttmlir_runtime.submission import Device

WARM_UP_LOOPS = 2


class Run(Command):
    """Runs every program of binaries on this processor.

    Attributes:
        keeps_binaries: Whether `binaries` has those that ran; else each is released before the next is loaded.
    """

    declaration = COMMANDS["run"]
    keeps_binaries = False

    def check_constraints(self) -> None:
        """Finds the binaries, and looks at options that belong together."""
        self.query = Query({"--quiet": True}, self.logger, self.artifacts)
        self.binaries: list[Binary] = []
        self._paths = self.files_of(lambda path: files_below(path, BINARIES), self["binary"])
        self.artifacts.name_files(self._paths)

    @property
    def program_index(self) -> str:
        """The number of the program that runs, or that all do."""
        return "0" if self["--benchmark"] else self["--program-index"]

    @property
    def loops(self) -> int:
        """How often each program runs."""
        return WARM_UP_LOOPS if self["--benchmark"] else int(self["--loops"])

    def execute(self) -> None:
        """Runs every binary."""
        for path in self._paths:
            with self.recorded(path, program_index=self.program_index) as more:
                binary = Binary(self.logger, self.file_manager, path, ignore_version=self["--ignore-version"])
                if self.keeps_binaries:
                    self.binaries.append(binary)
                if binary.extension == TTMETAL:
                    raise ArgumentError(
                        f"{path} is a binary of ttmetal, whose kernels are for a chip",
                        help="`ttrt read` shows it; a module that is lowered to ttnn runs here",
                    )
                binary.check_version(ignore=self["--ignore-version"])
                binary.require_system(self.query, ignore=self["--ignore-version"])
                more["device"] = rules_on_cpu(binary.target)
                binary.fbb.target = binary.target if self["--numerics"] == CHIP else None
                self.log.info("%s runs on %s, with the numbers of a %s", path, more["device"], self["--numerics"])
                try:
                    for program in binary.chosen_programs(self.program_index):
                        self._run(binary, program)
                finally:
                    more["program_results"] = binary.program_results
                    if self["--save-artifacts"]:
                        binary.save(self.artifacts, self.query)

    def _run(self, binary: Binary, program: BinaryProgram) -> None:
        """Runs one program in all loops, and looks at its results."""
        from ttnn_jit.tools.ttrt.runs.op_callbacks import post_op_get_callback_fn, pre_op_get_callback_fn
        from ttnn_jit.tools.ttrt.runs.submitted_programs import open_device

        config = self._callbacks(binary)
        program.input_tensors = self._inputs(binary, program, config)
        hooks: Hooks = {}
        if config.is_needed and not self["--disable-ttrt-callbacks"]:
            hooks = {"pre_op": pre_op_get_callback_fn(config), "post_op": post_op_get_callback_fn(config)}
        device = open_device(program)
        for loop in range(self.loops):
            config.start_new_callback(self.artifacts.program_folder(binary, program.index))
            self._log_memory(binary, program)
            program.output_tensors = self.submitted(device, binary, program, loop, hooks).outputs
        if self["--print-input-output-tensors"]:
            self._print_tensors(program)
        self._save_reports(binary, program, config)
        self._judge(binary, program, config)

    def submitted(self, device: Device, binary: Binary, program: BinaryProgram, loop: int, hooks: Hooks) -> Submitted:
        """Runs a program once, and records its times."""
        from ttnn_jit.tools.ttrt.runs.submitted_programs import submit

        found = submit(device, binary, program, program.input_tensors, hooks)
        binary.add_program_results(program.index, loop, found.submission, found.fetching)
        return found

    def _callbacks(self, binary: Binary) -> CallbackRuntimeConfig:
        from ttnn_jit.tools.ttrt.runs.op_callbacks import CallbackRuntimeConfig

        compares = not (self["--disable-golden"] or self["--benchmark"])
        return CallbackRuntimeConfig(
            pcc=self["--pcc"],
            atol=self["--atol"],
            rtol=self["--rtol"],
            save_golden_tensors=self["--save-golden-tensors"],
            logging=self.log,
            enable_golden=compares and "--init" not in self.given and binary.has_goldens,
            enable_memory=self["--memory"] or self["--check-memory-leak"] or self["--memory-log-level"] != "none",
            enable_debugger=self["--debugger"],
            compute_goldens=compares and self["--enable-golden"],
        )

    def _inputs(self, binary: Binary, program: BinaryProgram, config: CallbackRuntimeConfig) -> list[Shards]:
        from ttnn_jit.tools.ttrt.runs.program_inputs import golden_inputs, initial_inputs

        stored = golden_inputs(program, binary.fbb) if config.enable_golden else None
        if stored is not None:
            return stored
        config.enable_golden = False  # other inputs have other goldens
        return initial_inputs(binary, program, self["--init"], self["--seed"], self["--ones-density"])

    def _save_reports(self, binary: Binary, program: BinaryProgram, config: CallbackRuntimeConfig) -> None:
        for index, entry in config.memory_report.items():
            if self["--memory-log-level"] in {"operation", "any"}:
                self.log.info("memory behind operation %s: %s", index, _used(entry))
        if not self["--save-artifacts"]:
            return
        folder = self.artifacts.program_folder(binary, program.index)
        self.artifacts.create_artifacts()
        if config.enable_golden or config.compute_goldens:
            config.save_golden_report(f"{folder}/golden_results.json")
        if self["--memory"]:
            config.save_memory_report(f"{folder}/memory_results.json")

    def _log_memory(self, binary: Binary, program: BinaryProgram) -> None:
        if self["--memory-log-level"] in {"program", "any"}:
            from ttnn_jit.ttmlir.ttmlir_runtime.chip_memory import MemoryRun

            run = MemoryRun(binary.fbb.text_module.functions[program.name], binary.target)
            self.log.info("memory before program %s: %s", program.index, _used(run.memory.view()))

    def _judge(self, binary: Binary, program: BinaryProgram, config: CallbackRuntimeConfig) -> None:
        """Looks at the results of a program.

        Raises:
            WrongResultError: One is not what it should be.
        """
        if config.enable_golden:
            self._compare_outputs(binary, program)
        config.check_pcc()
        if self["--check-memory-leak"]:
            config.check_memory_leak()
        if self["--identity"]:
            self._require_identity(program)
        if self["--non-zero"]:
            for index, shards in enumerate(program.output_tensors):
                if not any(bool(each.any()) for each in shards):
                    raise WrongResultError(f"output {index} is all zero")

    def _compare_outputs(self, binary: Binary, program: BinaryProgram) -> None:
        """Compares the outputs with the goldens that the binary holds."""
        import torch

        from ttnn_jit.tools.ttrt.runs.golden_comparison import compared, golden_to_torch, why_wrong

        for index, shards in enumerate(program.output_tensors):
            stored = binary.fbb.get_debug_info_golden(f"output_{index}")
            if not stored:
                continue
            right, got = golden_to_torch(stored[min(stored)]), shards[0]
            if self["--save-artifacts"]:
                folder = self.artifacts.program_folder(binary, program.index)
                self.artifacts.save_torch_tensor(folder, right, f"golden_output_{index}.pt")
            if right.shape != got.shape:
                raise WrongResultError(
                    f"output {index} has the shape {list(got.shape)}, and its golden {list(right.shape)}"
                )
            entry = compared(right, got, self["--pcc"], self["--atol"], self["--rtol"])
            limits = {"rtol": self["--rtol-allclose"], "atol": self["--atol-allclose"], "equal_nan": True}
            is_close = binary.extension != TTMETAL or torch.allclose(got.double(), right.double(), **limits)
            if not entry["matches"] or not is_close:
                self._log_differences(index, right, got)
                reason = why_wrong(entry) if not entry["matches"] else "it is not close"
                raise WrongResultError(f"output {index} differs from its golden: {reason}")
            self.log.info("output %s matches its golden, pcc=%s", index, entry["actual_pcc"])

    def _log_differences(self, index: int, golden: torch.Tensor, got: torch.Tensor) -> None:
        from ttnn_jit.tools.ttrt.runs.golden_comparison import largest_differences

        for kind, relative in (("absolute", False), ("relative", True)):
            for each in largest_differences(golden, got, self["--golden-diff-topk"], relative=relative):
                self.log.info(
                    "output %s, %s difference %.6e at %s: golden %+.6e, output %+.6e",
                    index, kind, each.difference, list(each.place), each.golden, each.result,
                )  # fmt: skip

    def _require_identity(self, program: BinaryProgram) -> None:
        import torch

        given, got = program.input_tensors, program.output_tensors
        if len(given) != len(got):
            raise WrongResultError(f"--identity compares {len(given)} inputs with {len(got)} outputs")
        for index, (before, after) in enumerate(zip(given, got, strict=True)):
            for a, b in zip(before, after, strict=False):
                same_shape = a.shape == b.shape
                if not same_shape or not torch.allclose(
                    b.double(), a.double(), rtol=self["--rtol"], atol=self["--atol"], equal_nan=True
                ):
                    raise WrongResultError(f"output {index} is not the input {index}")

    def _print_tensors(self, program: BinaryProgram) -> None:
        for kind, tensors in (("input", program.input_tensors), ("output", program.output_tensors)):
            for index, shards in enumerate(tensors):
                for device, each in enumerate(shards):
                    of_device = f" on device {device}" if len(shards) > 1 else ""
                    self.log.info("program %s, %s %s%s:\n%s", program.index, kind, index, of_device, each)


def _used(view: dict[str, Any]) -> str:
    """The bytes of every bank that tensors have, by memory."""
    used = {
        name: each["total_bytes_allocated_per_bank"]
        for name, each in view.items()
        if isinstance(each, dict) and "num_banks" in each
    }
    return ", ".join(f"{nbytes:,} bytes of a bank of {name}" for name, nbytes in used.items() if nbytes) or "nothing"
