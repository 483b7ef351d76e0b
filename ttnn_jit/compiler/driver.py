"""One compile: a function and its arguments' metadata in, a `Program` out; and the two levels of the disk cache.

The order of things: the manifest (found by code and metadata, without loading the compiler), the frontend, the content
level (found by what the program says), the passes, codegen, assembly.
"""

from __future__ import annotations

import json
import types
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache import manifest, statistics
from ttnn_jit.cache.disk import store_of
from ttnn_jit.cache.manifest import Manifest, ManifestKey
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign import pytrees
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.fingerprints import fingerprint_code, read_fingerprint
from ttnn_jit.guards.reads import Opaque, Read, path_from_json, path_to_json, resolve
from ttnn_jit.ops import Operation
from ttnn_jit.process.compile_lock import compiles
from ttnn_jit.runtime.launch_bounds import signature_of
from ttnn_jit.runtime.native import host_cpu, load_launch_code
from ttnn_jit.runtime.program import Program, ProgramPlan
from ttnn_jit.specs.options import CompileOptions, Environment, OutputLayout
from ttnn_jit.specs.sharding import maximal_block_sharding_config
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.target_rules import check_target_rules
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig, TensorSpec

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from ttnn_jit.frontend import FrontendResult, ResultLayout
    from ttnn_jit.kernels.isa import HostIsa
    from ttnn_jit.kernels.llvm_module import KernelModules
    from ttnn_jit.runtime.plan import ProgramPlan

Observer = Callable[[str, str], None]
"""Called with a stage's name and the text that it left."""

FRONTEND, CODEGEN, ASSEMBLY = "frontend", "codegen", "assembly"
SCHEDULED = "d2m-insert-dst-register-access"  # the only stage that codegen reads


@dataclass(frozen=True)
class Request:
    """What is to be compiled: `arguments` holds TensorSpec objects where the call has tensors."""

    function: types.FunctionType
    arguments: Mapping[str, Any]
    target: SystemDesc
    options: CompileOptions


@dataclass(frozen=True)
class Compilation:
    """A program and what its caller must know of how it came to be.

    Attributes:
        program: The compiled program.
        reads: What the compile read of the user's world; a change of any of it makes the program stale.
        structure: None for one result, else a nest of tuples, lists and dicts with result indices as leaves.
        opaque: The first thing that was read whose change cannot be seen: the program serves one call only.
        warnings: Texts for the user.
    """

    program: Program
    reads: tuple[Read, ...]
    structure: Any
    opaque: Opaque | None = None
    warnings: tuple[str, ...] = ()


@compiles
def compile_function(
    request: Request, *, use_disk: bool, observer: Observer | None = None, keep_texts: bool = False
) -> Compilation:
    """The program of a request, from disk if it is there.

    Args:
        request: What to compile.
        use_disk: Look on disk, and store there what was compiled.
        observer: Sees the text of every stage; compiles anew and verifies after every pass.
        keep_texts: Compile anew; the program keeps the text of every stage.

    Raises:
        CompileError: The function is outside the language, or a stage refuses it.
        ArgumentError: A kernel would read what the target's rules refuse.
    """
    # A pass of the user's own, and a kernel of the interpreter's, are things that only this process knows.
    options = request.options
    stored = stored_programs(wanted=use_disk and not options.extra_pipeline_options)
    if stored:
        load_launch_code(stored.native_code)
    key = function_key(request) if stored else None
    inputs = [leaf for leaf in pytrees.leaves([*request.arguments.values()]) if isinstance(leaf, TensorSpec)]
    if stored and key and (found := _from_manifest(stored, key, request, inputs)):
        return found
    lowered = lower_request(request)
    for name, spec in lowered.kernel_operands:
        check_target_rules(name, spec, request.target)
    program, is_new = _program(lowered, inputs, request.options, stored, observer, keep_texts=keep_texts)
    if stored and key and lowered.opaque is None:
        _store(stored, key, lowered, program, is_new=is_new)
    return Compilation(program, lowered.reads, lowered.output_structure, lowered.opaque, lowered.warnings)


@dataclass(frozen=True)
class ResultPlacement:
    """What the caller of one eager operation asks of its result; None leaves it to the operation.

    Attributes:
        memory_config: Where it lies.
        dtype: Its element type.
        activations: Unary operations that are applied before the one rounding.
    """

    memory_config: MemoryConfig | None = None
    dtype: DataType | None = None
    activations: tuple[Operation, ...] = ()


@compiles
def compile_operation(
    operation: Operation,
    operands: tuple[TensorSpec | float, ...],
    attributes: tuple[float, ...],
    target: SystemDesc,
    result: ResultPlacement | None = None,
) -> Program:
    """The program of one operation, as eager `ttnn` runs it; from disk if it is there.

    Args:
        operation: What to run.
        operands: A spec for every tensor, a float for every number.
        attributes: Values of the operation's attributes.
        target: The device's.
        result: What is asked of the result.

    Raises:
        CompileError: The operands do not fit the operation or each other.
        GridError: The memory config asked for does not hold the result.
    """
    result = result or ResultPlacement()
    # One call of the user's rounds once: what comes before an activation stays float32.
    options = CompileOptions(memory_config=result.memory_config, fp32_dest_acc=bool(result.activations))
    stored = stored_programs(wanted=True)
    name = f"ttnn.{operation.name}"
    inputs = [operand for operand in operands if isinstance(operand, TensorSpec)]
    key = None
    if stored:
        load_launch_code(stored.native_code)
        arguments = {
            "operands": operands,
            "attributes": attributes,
            "declaration": operation.ttnn_name,
            "dtype": result.dtype,
            "activations": tuple((activation.ttnn_name, activation.body) for activation in result.activations),
            "body": operation.body,
        }
        key = manifest.manifest_key(name, "eager", arguments, options, target, host_cpu())
        found = stored.lookup(key, lambda _: None)
        if found is not None and (program := Program.if_sound(found.program, inputs)) is not None:
            statistics.count_disk_hit()
            return program
    from ttnn_jit.frontend import lower_operation

    layout = _result_layout(options, target)
    lowered = lower_operation(operation, operands, attributes, target, result.dtype, layout, result.activations)
    program, is_new = _program(lowered, inputs, options, stored, None, keep_texts=False)
    if stored and key:
        _store(stored, key, lowered, program, is_new=is_new)
    return program


# --- The disk cache's two levels ------------------------------------------------------------------------------------

_PROGRAMS: weakref.WeakValueDictionary[str, Program] = weakref.WeakValueDictionary()
"""Programs in memory by content key, for as long as some function holds them."""


def stored_programs(*, wanted: bool) -> Manifest | None:
    """The programs on disk; None where they are turned off."""
    store = store_of(Environment.read()) if wanted else None
    return Manifest(store) if store else None


def function_key(request: Request) -> ManifestKey | None:
    """The manifest key; None if an argument has no identity that another process could recognise."""
    code = fingerprint_code(request.function.__code__)
    name = request.function.__qualname__
    key = manifest.manifest_key(name, code, request.arguments, request.options, request.target, host_cpu())
    try:
        _ = key.digest
    except NoStableIdentityError:
        return None
    return key


def current_fingerprint(request: Request, path: str, values: dict[str, Any]) -> str | None:
    """What stands now where a compile read, also put into `values`; None if there is nothing any more.

    Objects of the user's are asked for it, which may raise anything.
    """
    try:
        values[path] = resolve(request.function, path_from_json(path), request.arguments)
        return read_fingerprint(values[path])
    except Exception:  # noqa: BLE001 - the compile will ask them again, and tell
        return None


def _from_manifest(
    stored: Manifest, key: ManifestKey, request: Request, inputs: Sequence[TensorSpec]
) -> Compilation | None:
    values: dict[str, Any] = {}

    def current(path: str) -> str | None:
        return current_fingerprint(request, path, values)

    found = stored.lookup(key, current)
    if found is None:
        return None
    program = Program.if_sound(found.program, inputs)
    if program is None:
        return None
    try:
        structure = pytrees.from_json(program.notes["structure"], values.__getitem__)
        warned = tuple(map(str, program.notes["warnings"]))
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    if any(type(leaf) is int and leaf not in range(len(program.plan.results)) for leaf in pytrees.leaves(structure)):
        return None
    statistics.count_disk_hit()
    reads = tuple(Read(path_from_json(path), values[path]) for path in found.reads)
    return Compilation(program, reads, structure, warnings=warned)


def _store(stored: Manifest, key: ManifestKey, lowered: FrontendResult, program: Program, *, is_new: bool) -> None:
    if program.notes["structure"] == NOT_STORABLE:
        return
    try:
        reads = [(path_to_json(read.path), read_fingerprint(read.value)) for read in lowered.reads]
    except NoStableIdentityError:
        return  # the function read, or returns, something that only this process knows
    content = program.notes["content"]
    known = not is_new and stored.program(content) is not None
    stored.store(key, reads, content, None if known else program.to_bytes())


NOT_STORABLE = "not storable"
"""Stands for the structure of what a function returns, where that holds what only this process knows."""


def _storable_structure(lowered: FrontendResult) -> Any:
    try:
        return pytrees.to_json(lowered.output_structure, _class_name(lowered.reads))
    except TypeError:
        return NOT_STORABLE


def _class_name(reads: Sequence[Read]) -> Callable[[type], str]:
    """How a class of the user's is written down: by the place where the compile read it."""
    found = {read.value: read.path for read in reads if isinstance(read.value, type)}

    def name(cls: type) -> str:
        if cls not in found:
            raise NoStableIdentityError(f"{cls.__qualname__} was not found in the user's world")
        return path_to_json(found[cls])

    return name


# --- The way down: frontend, passes, code ---------------------------------------------------------------------------


def lower_request(request: Request) -> FrontendResult:
    """The request's module, and what the frontend read to make it."""
    from ttnn_jit.frontend import lower

    arguments = {name: _lowered_argument(value) for name, value in request.arguments.items()}
    layout = _result_layout(request.options, request.target)
    return lower(request.function, arguments, request.target, request.options.graph_capture, layout)


def _lowered_argument(value: Any) -> Any:
    from ttnn_jit.frontend import TensorArgument

    return map_leaves(value, lambda leaf: TensorArgument(leaf) if isinstance(leaf, TensorSpec) else leaf)


def _program(
    lowered: FrontendResult,
    inputs: Sequence[TensorSpec],
    options: CompileOptions,
    stored: Manifest | None,
    observer: Observer | None,
    *,
    keep_texts: bool,
) -> tuple[Program, bool]:
    """The program of a module, by its content from memory or disk, else compiled; and whether it was compiled now."""
    from ttnn_jit.dialects.content import content_of, operation_names

    notes: dict[str, Any] = {
        "structure": _storable_structure(lowered),
        "warnings": list(lowered.warnings),
        "ops": operation_names(lowered.module),
    }
    text = json.dumps([content_of(lowered.module), repr(options), notes])
    content = notes["content"] = manifest.content_key(text, host_cpu())
    if not (observer or keep_texts):
        if not options.extra_pipeline_options and (known := _PROGRAMS.get(content)) is not None:
            return known, False
        data = stored.program(content) if stored else None
        if data is not None and (program := Program.if_sound(data, inputs)) is not None:
            statistics.count_disk_hit()
            _PROGRAMS[content] = program
            return program, False
    program = _compile(lowered.module, options, notes, observer, keep_texts)
    statistics.count_compile()
    if not keep_texts:
        _PROGRAMS[content] = program
    return program, True


def _compile(
    module: ModuleOp, options: CompileOptions, notes: Mapping[str, Any], observer: Observer | None, keep_texts: bool
) -> Program:
    from ttnn_jit.dialects.editing import discard

    texts: dict[str, str] = {}

    def seen(stage: str, text: str) -> None:
        if keep_texts:
            texts[stage] = text
        if observer:
            observer(stage, text)

    code, descriptors = run_stages(module, options, seen if keep_texts or observer else None)
    if keep_texts:
        texts[ASSEMBLY] = code.assembly()
    # What the stages left is in circles, for which the collector would come; a pass of the user's may have kept it.
    if not options.extra_pipeline_options:
        discard(module)
    return Program(code.plan, _objects(code), descriptors=descriptors, texts=texts, notes=notes, built_for=host_cpu())


def _result_layout(options: CompileOptions, target: SystemDesc) -> ResultLayout | None:
    """Where the options want results; None leaves it to the operations."""
    rows, columns = target.grid
    last_core = options.max_grid or (columns - 1, rows - 1)
    if options.memory_config is not None:
        chosen = options.memory_config
        return lambda _: chosen
    if options.output_layout is OutputLayout.MAX_BLOCK_SHARDED:
        return lambda spec: maximal_block_sharding_config(spec.shape, last_core) or spec.memory_config
    return None


def compile_scheduled(module: ModuleOp) -> Program:
    """The program of a module that ``d2m-insert-dst-register-access`` left, a hand-edited one perhaps.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    from ttnn_jit.codegen.descriptors import program_descriptors
    from ttnn_jit.transforms import pipeline

    code = _code(module, CompileOptions().backend)
    launches = module.clone()
    pipeline.run(launches, CompileOptions(), start_after=SCHEDULED)
    return Program(code.plan, _objects(code), descriptors=program_descriptors(launches), built_for=host_cpu())


@dataclass(frozen=True)
class _Code:
    """What a scheduled module becomes.

    Attributes:
        plan: Buffers and launches.
        texts: By kernel, what a reader is shown: LLVM text or Python source.
        modules: By kernel, what is assembled; numba compiles here.
        backend: Which wrote them.
    """

    plan: ProgramPlan
    texts: Mapping[str, str]
    modules: Callable[[], Mapping[str, KernelModules]]
    backend: str

    def assembly(self) -> str:
        """What runs, as the assembler has it."""
        from ttnn_jit.codegen.assemble import assembly

        isa = _assembler_isa(self.backend)
        return "\n".join(assembly(modules.whole, isa) for modules in self.modules().values())


def run_stages(
    module: ModuleOp, options: CompileOptions, observer: Observer | None
) -> tuple[_Code, Sequence[Mapping[str, Any]]]:
    """All stages over `module`, in place; codegen reads it where it is scheduled, the user's passes included."""
    from ttnn_jit.codegen.descriptors import program_descriptors
    from ttnn_jit.dialects import print_module, verify
    from ttnn_jit.transforms import pipeline

    def seen(stage: str, after: ModuleOp) -> None:
        if observer:
            observer(stage, print_module(after))

    # A pass of the user's own may leave anything.
    checked = observer is not None or bool(options.extra_pipeline_options)

    def run(passes: Sequence[ModulePass]) -> None:
        reproducers = Environment.read().reproducers
        pipeline.run_passes(module, passes, observer=seen, verify_each=checked, reproducers=reproducers)

    if checked:
        verify(module)
    seen(FRONTEND, module)
    every = pipeline.passes_between(options)
    until_scheduled = pipeline.passes_between(options, until=SCHEDULED)
    run(until_scheduled)
    code = _code(module, options.backend)
    run(every[len(until_scheduled) :])
    if observer:
        observer(CODEGEN, "\n".join(code.texts.values()))
    return code, program_descriptors(module, with_source=observer is not None)


def _code(module: ModuleOp, backend: str) -> _Code:
    isa = None if backend == "numba" else _host_isa()
    if isa is None:
        from ttnn_jit.codegen.numba_kernel import numba_program

        plan, sources = numba_program(module)
        return _Code(plan, sources, cache(partial(_numba_modules, sources)), "numba")
    from ttnn_jit.codegen.host_program import generate

    generated = generate(module, isa)
    texts = {name: kernel.text for name, kernel in generated.kernels.items()}
    modules = {name: kernel.modules for name, kernel in generated.kernels.items()}
    return _Code(generated.plan, texts, lambda: modules, backend)


def _numba_modules(sources: Mapping[str, str]) -> dict[str, KernelModules]:
    from ttnn_jit.codegen.numba_kernel import numba_module
    from ttnn_jit.kernels.llvm_module import KernelModules

    return {name: KernelModules.of(numba_module(name, source)) for name, source in sources.items()}


def _objects(code: _Code) -> dict[str, bytes]:
    if not code.texts:
        return {}
    from ttnn_jit.codegen.kernel_images import images_of

    signatures = {launch.kernel: signature_of(launch, code.plan.buffers) for launch in code.plan.launches}
    return images_of(code.texts, code.modules, signatures, _assembler_isa(code.backend))


def language(backend: str) -> str:
    """What a backend writes kernels in, as the suffix of a file: ``ll`` or ``py``."""
    return "py" if backend == "numba" or _host_isa() is None else "ll"


def _assembler_isa(backend: str) -> HostIsa:
    """What the assembler may use; scalar code by numba is assembled for any host."""
    from ttnn_jit.kernels.isa import HostIsa

    vectors = _host_isa() if backend == "ttnn" else None
    host = host_cpu()
    return vectors or HostIsa("scalar", host.name, host.features, lanes=1, triple=host.triple)


@cache
def _host_isa() -> HostIsa | None:
    """What LLVM text is written for; None, said once, on a host that numba compiles all kernels for."""
    from ttnn_jit.kernels.isa import isa_for

    host = host_cpu()
    features = {feature[1:]: feature[0] == "+" for feature in host.features.split(",") if feature}
    try:
        return isa_for(host.name, features, host.triple)
    except ArgumentError as error:
        warnings.warn(
            f"{error.message}: numba compiles them here, as with `backend='numba'`: they are slower, and functions are "
            "libm's, whose last bits differ from those of other hosts",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
