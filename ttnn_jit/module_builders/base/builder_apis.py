"""Builds modules, compiles them, and runs them beside their goldens."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from xdsl.dialects.func import FuncOp

from ttnn_jit.module_builders.base import runtime_names
from ttnn_jit.module_builders.base.builder_errors import TTBuilderRuntimeException, build_errors, compile_errors
from ttnn_jit.module_builders.base.builder_interface import (
    DeferredDevice,
    create_custom_ttir_pipeline_fn,
    get_artifact_dir,
    run_ttir_pipeline,
)
from ttnn_jit.module_builders.base.builder_runtime import execute_fb
from ttnn_jit.module_builders.base.loaded_modules import GivenInputs, load, split
from ttnn_jit.module_builders.base.python_programs import execute_py
from ttnn_jit.module_builders.d2m.d2m_builder import D2MBuilder
from ttnn_jit.module_builders.goldens.judged_outputs import judged_as_wholes
from ttnn_jit.module_builders.stablehlo.sharding_permutations import (
    find_module_permutations,
    optimal_module_least_num_collectives,
)
from ttnn_jit.module_builders.stablehlo.stablehlo_builder import StableHLOBuilder
from ttnn_jit.module_builders.ttir.ttir_builder import TTIRBuilder
from ttnn_jit.module_builders.ttnn.ttnn_builder import TTNNBuilder
from ttnn_jit.ops.public_names import did_you_mean
from ttnn_jit.process.complete_file import complete_file, write_complete
from ttnn_jit.ttmlir import passes
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import Module
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

_BUILDERS: dict[str, Any] = {
    "ttir": TTIRBuilder,
    "stablehlo": StableHLOBuilder,
    "ttnn": TTNNBuilder,
    "d2m": D2MBuilder,
}
_PIPELINES = {
    "ttnn": "ttir_to_ttnn_runtime_pipeline",
    "ttmetal": "ttir_to_ttmetal_backend_pipeline",
    "ttnn-mode": "ttir_to_ttmetal_backend_pipeline",
    "emitc": "ttir_to_emitc_pipeline",
    "emitpy": "ttir_to_ttnn_runtime_pipeline",  # its module of TTNN is translated
}
_OF_EMITTED_TEXT = ("split-files=", "target-module=", "try-recover-structure=", "load-input-tensors-from-disk=")
"""How options begin that say how the pipelines of emitpy write: here a module of TTNN is translated."""
_NARROWING = ("experimental-kv-cache-dtype=", "experimental-weight-dtype=")
"""How options begin that store tensors in fewer bits than the module says."""
_WRITERS = {
    "ttnn": "ttnn_to_flatbuffer_bin",
    "ttnn-mode": "ttnn_to_flatbuffer_bin",
    "ttmetal": "ttmetal_to_flatbuffer_bin",
    "emitc": "translate_to_cpp",
    "emitpy": "translate_to_python",
}
"""Target -> what makes its program of a module (`ttmlir.passes`)."""


def build_module(
    mod: Callable[..., Any],
    builder_type: str,
    mesh_name: str = "mesh",
    mesh_dict: Mapping[str, int] | None = None,
    save_artifacts: bool = False,
    artifact_dir: str = ".",
    system_desc_path: str | None = None,
) -> tuple[Module, Any]:
    """The module that a function of a builder makes, and the builder.

    Args:
        mod: ``mod(builder)``.
        builder_type: ``"ttir"``, ``"stablehlo"``, ``"ttnn"`` or ``"d2m"``.
        mesh_name: The name of the mesh.
        mesh_dict: Its axes with their extents.
        save_artifacts: Whether to write the module.
        artifact_dir: Where to.
        system_desc_path: The description of the device.

    Raises:
        ValueError: There is no builder of that type.
    """
    if builder_type not in _BUILDERS:
        raise ValueError(f"{builder_type!r} is no builder; there are {', '.join(_BUILDERS)}")
    kind = _BUILDERS[builder_type]
    builder = kind(Context(), _location_of(mod), mesh_name, mesh_dict, system_desc_path=system_desc_path)
    module = builder.build(mod)
    module.operation.verify()
    if save_artifacts:
        _save(Path(artifact_dir) / f"{builder_type}_module.mlir", str(module))
    return module, builder


def _location_of(function: Callable[..., Any]) -> Location:
    try:
        return Location.file(inspect.getfile(function), inspect.getsourcelines(function)[1], 0)
    except (OSError, TypeError):
        return Location.unknown()


def _save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_complete(path, [text.encode()])


def compile_ttir_module_to_flatbuffer(  # noqa: PLR0913, PLR0917 - upstream's arguments
    module: Module,
    builder: Any,
    system_desc_path: str | None = None,
    artifact_dir: str = ".",
    target: str = "ttnn",
    mesh_dict: Mapping[str, int] | None = None,
    save_artifacts: bool = False,
    argument_types_string: str | None = None,
    custom_pipeline: Callable[..., Any] | str | None = None,
    pipeline_options: Sequence[str] | None = None,
    print_ir: bool | str = False,
    input_output_goldens: Any = None,
    intermediate_goldens: Any = None,
) -> tuple[Any, Any, Any]:
    """The program of a module, and the goldens of inputs, outputs and operations.

    Args:
        module: The module, which changes.
        builder: What made it.
        system_desc_path: The description of the device.
        artifact_dir: Where artifacts are written.
        target: ``"ttnn"``, ``"ttmetal"``, ``"ttnn-mode"``, ``"emitpy"`` or ``"emitc"``.
        mesh_dict: The axes of the mesh with their extents.
        save_artifacts: Whether to write the compiled module.
        argument_types_string: Which arguments are parameters.
        custom_pipeline: A pipeline instead of the target's: a function, or passes as mlir-opt takes them.
        pipeline_options: Options of the pipeline.
        print_ir: Whether to print the module behind each pass; or a folder for a file per pass.
        input_output_goldens: Goldens; by default those of the builder.
        intermediate_goldens: Goldens; by default those of the builder.

    Raises:
        TTBuilderCompileException: The module is not compiled.
        ValueError: There is no such target.
    """
    if target not in _PIPELINES:
        raise ValueError(f"{target!r} is no target; there are {', '.join(_PIPELINES)}")
    if input_output_goldens is None or intermediate_goldens is None:
        input_output_goldens, intermediate_goldens = builder.golden_map
    options = [*(pipeline_options or ())]
    if target == "ttnn-mode":
        options.append("ttnn-mode=true")
    if target == "emitpy":
        options = [each for each in options if not each.startswith(_OF_EMITTED_TEXT)]
    if _is_narrowed(module, options):
        input_output_goldens = judged_as_wholes(input_output_goldens)
    if isinstance(custom_pipeline, str):
        custom_pipeline = create_custom_ttir_pipeline_fn(custom_pipeline, print_ir=print_ir)
    pipeline = custom_pipeline or _printing(getattr(passes, _PIPELINES[target]), print_ir)
    with compile_errors():
        run_ttir_pipeline(
            module,
            pipeline,
            options,
            save_artifacts,
            str(Path(artifact_dir) / f"{target}_compiled.mlir"),
            system_desc_path,
            mesh_dict,
            argument_types_string,
        )
        program = getattr(passes, _WRITERS[target])(module)
        if isinstance(program, Binary):
            program.lower()
    if isinstance(program, passes.EmittedPython) and save_artifacts:
        _save_python(Path(artifact_dir) / f"{target}_compiled.py", program)
    return program, input_output_goldens, intermediate_goldens


def _is_narrowed(module: Module, options: Sequence[str]) -> bool:
    """Whether a module stores tensors in fewer bits than it says, of which no golden knows."""
    notes = [each.arg_attrs for each in module.held.walk() if isinstance(each, FuncOp)]
    return any(each.startswith(_NARROWING) and not each.endswith("=none") for each in options) or any(
        "ttcore.weight_dtype" in each.data for attributes in notes if attributes for each in attributes
    )


def _save_python(path: Path, program: passes.EmittedPython) -> None:
    """Writes a program, and before it the constants beside it, which it loads."""
    if program.program.constants:
        path.parent.mkdir(parents=True, exist_ok=True)
        with complete_file(path.with_suffix(".pt")) as file:
            torch.save(dict(program.program.constants), file)
    _save(path, program)


def _printing(pipeline: Callable[..., Any], print_ir: bool | str) -> Callable[..., Any]:
    def run(module: Module, options: str) -> None:
        pipeline(module, options, print_ir=print_ir)

    return run if print_ir else pipeline


def _compiled(builder_type: str, fn: Callable[..., Any], options: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Builder, program, goldens of inputs and outputs, goldens of operations.

    Raises:
        TypeError: There is no such option.
    """
    known = {*_ORDER, *_OF_EXECUTION, *_OF_PIPELINES, *inspect.signature(compile_ttir_module_to_flatbuffer).parameters}
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option {name!r} of compiling and executing{did_you_mean(name, known)}")
    kept = ("mesh_name", "mesh_dict", "save_artifacts", "artifact_dir", "system_desc_path")
    with build_errors():
        module, builder = build_module(fn, builder_type, **{key: options[key] for key in kept if key in options})
    options = {key: value for key, value in options.items() if key not in {"mesh_name", "device"}}
    if builder_type == "stablehlo":
        options |= dict(zip(("input_output_goldens", "intermediate_goldens"), builder.golden_map, strict=True))
        _to_ttir(module, options)
    compiled = compile_ttir_module_to_flatbuffer(module, builder, **options)
    if isinstance(compiled[0], passes.EmittedPython) and "artifact_dir" not in options:
        _save_python(Path(_IN_DECEMBER.format(builder_type)), compiled[0])
    return builder, *compiled


_IN_DECEMBER = "{}-builder-artifacts/emitpy/test_ttnn.mlir.py"
"""Where the builder of December 2025 writes programs in Python, and where scripts of that time read them."""


def _to_ttir(module: Module, options: dict[str, Any]) -> None:
    """Runs the pipelines from StableHLO to TTIR; `options` becomes those of the pipeline behind them."""
    first = options.pop("shlo_pipeline_options", None) or ()
    second = options.pop("shlo_to_ttir_pipeline_options", None) or ()
    options["pipeline_options"] = options.pop("ttir_pipeline_options", None)
    folder = Path(options.get("artifact_dir", "."))
    with compile_errors():
        for name, run, own in (
            ("stablehlo", passes.stablehlo_pipeline, first),
            ("ttir", passes.stablehlo_to_ttir_pipeline, second),
        ):
            run(module, " ".join(own), print_ir=options.get("print_ir", False))
            if options.get("save_artifacts"):
                _save(folder / f"{name}_compiled.mlir", str(module))


def compile_ttir_to_flatbuffer(fn: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, Any, Any, Any]:
    """Builder, program, goldens of inputs and outputs, and of operations, of a function of a `TTIRBuilder`.

    Options are those of `build_module` and `compile_ttir_module_to_flatbuffer`.
    """
    return _compiled("ttir", fn, _named(args, options))


def compile_ttnn_to_flatbuffer(fn: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, Any, Any, Any]:
    """As `compile_ttir_to_flatbuffer`, of a function of a `TTNNBuilder`."""
    return _compiled("ttnn", fn, _named(args, options))


def compile_d2m_to_flatbuffer(fn: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, Any, Any, Any]:
    """As `compile_ttir_to_flatbuffer`, of a function of a `D2MBuilder`."""
    return _compiled("d2m", fn, _named(args, options))


def compile_stablehlo_to_flatbuffer(fn: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, Any, Any, Any]:
    """As `compile_ttir_to_flatbuffer`, of a function of a `StableHLOBuilder`.

    Options of pipelines are ``shlo_pipeline_options``, ``shlo_to_ttir_pipeline_options``, ``ttir_pipeline_options``.
    """
    return _compiled("stablehlo", fn, _named(args, options))


_OF_PIPELINES = ("device", "shlo_pipeline_options", "shlo_to_ttir_pipeline_options", "ttir_pipeline_options")
_ORDER = ("system_desc_path", "artifact_dir", "target", "mesh_name", "mesh_dict", "save_artifacts")


def _named(args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    return {**dict(zip(_ORDER, args, strict=False)), **options}


_OF_EXECUTION = (
    "pcc",
    "atol",
    "rtol",
    "disable_golden",
    "check_pcc",
    "check_atol",
    "check_rtol",
    "enable_intermediate_verification",
    "dump_memory",
    "save_artifacts",
)


def _compile_and_execute(builder_type: str, fn: Callable[..., Any], options: dict[str, Any]) -> str:
    """Compiles a function of a builder, and runs it: the path of the compiled module, written by `save_artifacts`.

    Raises:
        TTBuilderCompileException: It is not compiled.
        TTBuilderRuntimeException: It does not run.
        TTBuilderGoldenException: A result is not its golden.
    """
    execution = {key: options[key] for key in _OF_EXECUTION if key in options}
    device, skips = options.pop("device", None), options.pop("skip_exec", False)
    folder = get_artifact_dir(
        options.pop("output_root", "."),
        _BUILDERS[builder_type].__name__,
        options.pop("test_base", "test"),
        bool(options.get("save_artifacts")),
    )
    compiling = {key: value for key, value in options.items() if key not in _OF_EXECUTION or key == "save_artifacts"}
    builder, program, outer, inner = _compiled(builder_type, fn, {**compiling, "artifact_dir": folder})
    if skips:
        raise TTBuilderRuntimeException("execution is skipped, as `skip_exec` says")
    target = options.get("target", "ttnn")
    module_path = str(Path(folder) / f"{target}_compiled.mlir")
    if target == "emitc":
        raise TTBuilderRuntimeException("C++ is generated and not run: it needs a compiler and a real ttnn")
    device = device.open() if isinstance(device, DeferredDevice) else device
    if isinstance(program, passes.EmittedPython):
        execute_py(
            program,
            outer,
            artifact_dir=folder,
            **_without(execution, "enable_intermediate_verification", "dump_memory"),
        )
        return module_path
    execute_fb(program, outer, inner, device=device, bypass_ops=builder._bypass_ops, artifact_dir=folder, **execution)
    return module_path


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key not in names}


def compile_and_execute_ttir(fn: Callable[..., Any], **options: Any) -> str:
    """Compiles a function of a `TTIRBuilder`, runs it, and compares every program's outputs with goldens.

    Args:
        fn: ``fn(builder)``.
        **options: ``target``, ``mesh_name``, ``mesh_dict``, ``device``, ``custom_pipeline``, ``pipeline_options``,
            ``argument_types_string``, ``print_ir``, ``system_desc_path``, ``save_artifacts``, ``output_root``,
            ``test_base``, ``skip_exec``; those of the comparison are the ones of `execute_fb`.

    Returns:
        The path of the compiled module, which `save_artifacts` writes.

    Raises:
        TTBuilderCompileException: It is not built, or not compiled.
        TTBuilderRuntimeException: It does not run.
        TTBuilderGoldenException: A result is not its golden.
    """
    return _compile_and_execute("ttir", fn, dict(options))


def compile_and_execute_ttnn(fn: Callable[..., Any], **options: Any) -> str:
    """As `compile_and_execute_ttir`, of a function of a `TTNNBuilder`."""
    return _compile_and_execute("ttnn", fn, dict(options))


def compile_and_execute_shlo(fn: Callable[..., Any], **options: Any) -> str:
    """As `compile_and_execute_ttir`, of a function of a `StableHLOBuilder`."""
    return _compile_and_execute("stablehlo", fn, dict(options))


def compile_and_execute_d2m(fn: Callable[..., Any], **options: Any) -> str:
    """As `compile_and_execute_ttir`, of a function of a `D2MBuilder`."""
    return _compile_and_execute("d2m", fn, dict(options))


def load_mlir_file(
    mlir_text: str,
    golden_inputs: GivenInputs | None = None,
    target: str = "ttir",
    deallocate_goldens: bool = False,  # noqa: ARG001 - goldens live as long as the builder
    test_base: str = "test",  # noqa: ARG001 - no artifacts
    output_root: str = ".",  # noqa: ARG001 - no artifacts
) -> tuple[Module, Any]:
    """The module of a text, and a builder with the golden of every value.

    Args:
        mlir_text: The text.
        golden_inputs: Function -> for each argument, its tensor, or device -> its part; others are random.
        target: The dialect: ``"ttir"``, ``"stablehlo"`` or ``"ttnn"``.
        deallocate_goldens: Of no effect.
        test_base: Of no effect.
        output_root: Of no effect.

    Raises:
        MLIRError: The text is invalid.
        CompileError: An operation has no golden.
    """
    return load(_BUILDERS[target], mlir_text, golden_inputs)


def split_mlir_file(module: Module, builder: Any, target: str = "ttir") -> list[tuple[Module, Any]]:  # noqa: ARG001
    """A module for each operation of a module, with a builder that has its goldens."""
    found: list[tuple[Module, Any]] = split(module, builder)
    return found


def generate_all_module_permutations(mlir_text: str, num_devices: int) -> list[Module]:
    """The ways to distribute a module of StableHLO over devices: a module for each mesh and choice of shardings.

    Args:
        mlir_text: The text.
        num_devices: The number of devices.

    Raises:
        MLIRError: The text is invalid.
    """
    return find_module_permutations(Module.parse(mlir_text, Context()), num_devices)


def get_optimal_module_least_num_collectives(module_permutations: Sequence[Module]) -> list[Module]:
    """Of modules that `generate_all_module_permutations` made, those that need the fewest collectives, lowered.

    Modules that `stablehlo-pipeline` refuses are left out. The modules that are given stay as they are.
    """
    return optimal_module_least_num_collectives([Module.parse(str(each), each.context) for each in module_permutations])


def experimental_build_stablehlo_module(
    fn: Callable[..., Any],
    inputs_shapes: Sequence[Sequence[int]],
    inputs_types: Sequence[Any] | None = None,
    mesh_name: Sequence[str] = ("mesh",),
    mesh_dict: Sequence[Mapping[str, int]] | None = None,
    save_artifacts: bool = False,
    base: str | None = None,
    output_root: str = ".",
) -> tuple[Module, StableHLOBuilder]:
    """The module of one function ``fn(inputs..., builder)`` with any number of meshes, and its builder.

    Args:
        fn: The function.
        inputs_shapes: The extents of each argument.
        inputs_types: The element type of each argument; by default float32.
        mesh_name: The names of the meshes.
        mesh_dict: The axes of each mesh with their extents.
        save_artifacts: Whether to write the module.
        base: The name of the file; by default that of the function.
        output_root: Where to.

    Raises:
        ValueError: There are other numbers of shapes and types.
    """
    types = [torch.float32] * len(inputs_shapes) if inputs_types is None else [*inputs_types]
    if len(types) != len(inputs_shapes):
        raise ValueError(f"there are {len(inputs_shapes)} shapes, and {len(types)} element types")
    meshes = [*(mesh_dict or [{"x": 1, "y": 1}])]
    builder = StableHLOBuilder(Context(), _location_of(fn), [*mesh_name], meshes)
    module = builder.build(lambda own: own.func(inputs_shapes, types)(fn))
    if save_artifacts:
        _save(Path(output_root) / f"{base or fn.__name__}_shlo.mlir", str(module))
    return module, builder


__all__ = [
    "D2MBuilder", "StableHLOBuilder", "TTIRBuilder", "TTNNBuilder", "build_module", "compile_and_execute_d2m",
    "compile_and_execute_shlo", "compile_and_execute_ttir", "compile_and_execute_ttnn", "compile_d2m_to_flatbuffer",
    "compile_stablehlo_to_flatbuffer", "compile_ttir_module_to_flatbuffer", "compile_ttir_to_flatbuffer",
    "compile_ttnn_to_flatbuffer", "experimental_build_stablehlo_module", "generate_all_module_permutations",
    "get_optimal_module_least_num_collectives", "load_mlir_file", "split_mlir_file",
]  # fmt: skip
__all__ += runtime_names.__all__


def __getattr__(name: str) -> Any:
    return getattr(runtime_names, name)
