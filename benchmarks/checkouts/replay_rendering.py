"""The output of one checkout for a combination; it runs in a process that imports that checkout.

It uses names that every version of the package has: `jit` with ``compile_only``, a program's texts, objects and plan,
and `kernels.isa.isa_for` for instruction sets other than the host's. Symbols of native functions are hashes of their
text; they are replaced by numbers, so that a changed kernel text causes no further differences.
"""

from __future__ import annotations

import hashlib
import io
import json
import linecache
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from benchmarks.checkouts.replay_programs import MODEL, PROGRAMS, Combination


def hashes(combinations: list[Combination], isa: str) -> dict[str, dict[str, str]]:
    """Key -> stage -> hash of its text; the process compiles for one instruction set from its first call on."""
    return {combination["key"]: _hashed(render(combination, isa)) for combination in combinations}


def _hashed(texts: dict[str, str]) -> dict[str, str]:
    return {stage: _hash(text.encode()) for stage, text in texts.items()}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:20]


def render(combination: Combination, isa: str) -> dict[str, str]:
    """Stage -> text: the IR after every stage, the kernels' text, their object code and the plan; or the error."""
    _compile_for(isa)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _texts(combination)
        except Exception as error:  # noqa: BLE001 - errors of checkouts are compared too
            return {"error": f"{type(error).__name__}: {error}"}


def _texts(combination: Combination) -> dict[str, str]:
    import ttnn_jit

    if combination["kind"] == MODEL:
        return _texts_of_model(combination)
    function, tensors = called(combination)
    options = _options(combination)
    if "backend" in options:
        return {"codegen": ttnn_jit.jit(**options)(function).ir(*tensors, stage="codegen")}
    return _texts_of_program(ttnn_jit.jit(compile_only=True, **options)(function)(*tensors))


def called(combination: Combination) -> tuple[Callable[..., Any], list[Any]]:
    """The function of a combination, and its tensor arguments."""
    return _function(combination), [_tensor(combination, index) for index in range(len(combination["shapes"]))]


def _options(combination: Combination) -> dict[str, Any]:
    return combination["options"] | {"enable_cache": False, "graph_capture": combination["frontend"] == "trace"}


def _texts_of_program(program: Any) -> dict[str, str]:
    numbers = _numbers_of_symbols(program.plan.kernels, program.objects)
    texts = {stage: _NUMBERS_OF_NUMBA.sub("", text) for stage, text in program.texts.items()}
    objects = (f"{numbers[symbol]}\n{_told(program.objects[symbol])}" for symbol in numbers)
    plan = json.loads(program.plan.text())
    plan["launches"] = list(_unrolled(plan["launches"]))
    texts |= {"plan": json.dumps(plan, sort_keys=True), "objects": "\n".join(objects)}
    return {stage: _renamed(text, numbers) for stage, text in texts.items()}


def _unrolled(launches: list[Any], rounds: tuple[int, ...] = ()) -> Iterator[list[Any]]:
    """Launches, repeated as they run. A repeat is a count and launches; fields 9 and 11 are steps and growth."""
    for first, *rest in launches:
        if not isinstance(first, str):
            for number in range(first):
                yield from _unrolled(rest[0], (*rounds, number))
        elif not rounds:
            yield [first, *rest]
        else:
            operands, params, picoseconds, written, offsets, reduced, panels, steps, *more = rest
            whole, growth = (*more, [], [])[:2]
            for number, own in zip(rounds, growth, strict=False):
                grown = [param + number * each for param, each in zip(params, own, strict=False)]
                params = [*grown, *params[len(own) :]]
            starts = offsets or [0] * len(operands)
            for number, own in zip(rounds, steps, strict=True):
                starts = [start + number * step for start, step in zip(starts, own, strict=True)]
            moved = starts if any(starts) else []
            own = [panels, [], whole] if whole else [panels] if panels else []
            yield [first, operands, params, picoseconds, written, moved, reduced, *own]


_NUMBERS_OF_NUMBA = re.compile(r"(?<=\w)B\d+v\d+(?=B\d)")
"""The part of numba's symbols that counts the functions compiled before in the process."""


def _numbers_of_symbols(kernels: Iterable[str], objects: Mapping[str, bytes]) -> dict[str, str]:
    """Symbol -> a name independent of its function's text: kernels by first launch, then their callees."""
    symbols = list(dict.fromkeys(kernels))
    for symbol in symbols:  # the list grows
        called = (name for name in _called_in(objects[symbol]) if name in objects and name not in symbols)
        symbols += dict.fromkeys(called)
    symbols += sorted(objects.keys() - set(symbols))
    return {symbol: f"function_{number}" for number, symbol in enumerate(symbols)}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda match: names.get(match[0], match[0]), text)


def _called_in(code: bytes) -> list[str]:
    """The external functions that an object file calls, in the order of its symbols."""
    (table,) = _elf(code).iter_sections("SHT_SYMTAB")
    return [symbol.name for symbol in table.iter_symbols() if symbol.name and symbol["st_shndx"] == "SHN_UNDEF"]


def _told(code: bytes) -> str:
    """The loaded sections of an object file; its symbol tables, which name its function, are left out."""
    if b"NumbaEnv" in code:
        return "numba's"
    in_memory = (section for section in _elf(code).iter_sections() if section["sh_flags"] & SH_FLAGS.SHF_ALLOC)
    return "\n".join(f"{each.name} {each.data_size} {_hash(each.data())}" for each in in_memory)


def _elf(code: bytes) -> ELFFile:
    return ELFFile(io.BytesIO(code))


def _texts_of_model(combination: Combination) -> dict[str, str]:
    """The texts of all programs that the model calls, in order."""
    import ttnn_jit

    programs: dict[str, Any] = {}

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        jitted = ttnn_jit.jit(compile_only=True, **_options(combination))(function)

        def called(*args: Any, **kwargs: Any) -> Any:
            program = jitted(*args, **kwargs)
            programs.setdefault(program.hash, program)
            return function(*args, **kwargs)

        return called

    ttnn_jit.register_as_ttnn()
    scope = _executed(combination["program"], combination["source"])
    run, _ = scope["build"](scope["SMALL"], _device(combination["target"]), compiled=compiled)
    run()
    texts = [_texts_of_program(program) for program in programs.values()]
    stages = dict.fromkeys(stage for each in texts for stage in each)
    return {stage: "\n".join(each.get(stage, "") for each in texts) for stage in stages}


def _function(combination: Combination) -> Callable[..., Any]:
    name, text = combination["program"], combination["source"]
    if not text:
        return PROGRAMS[name]
    function: Callable[..., Any] = _executed(name, text)[name]
    return function


def _executed(name: str, text: str) -> dict[str, Any]:
    """The namespace of a module with that text, and `ttnn`."""
    from ttnn_jit import ttnn

    # Frontends read the source from linecache; a time of None marks a source without a file.
    file = f"<replayed {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules[file] = types.ModuleType(file)  # dataclasses look up their module
    vars(module)["ttnn"] = ttnn
    exec(compile(text, file, "exec"), vars(module))
    return vars(module)


def _tensor(combination: Combination, index: int) -> Any:
    kind = "thin" if combination["kind"] == "broadcast" and index % 2 else combination["kind"]
    return _made(combination["dtypes"][index], tuple(combination["shapes"][index]), kind, combination["target"])


@cache
def _made(dtype: str, shape: tuple[int, ...], kind: str, target: str) -> Any:
    if kind == "numpy":
        import numpy

        return numpy.zeros(shape, {"f32": numpy.float32}[dtype])
    import torch

    own = {"f32": torch.float32, "bf16": torch.bfloat16, "si32": torch.int32}[dtype]
    match kind:
        case "strided":
            return torch.zeros((*shape[:-2], shape[-1], 2 * shape[-2]), dtype=own)[..., ::2].transpose(-1, -2)
        case "thin":
            return torch.zeros((*shape[:-1], 1), dtype=own)
        case "torch" | "broadcast":
            return torch.zeros(shape, dtype=own)
        case _:
            return _on_device(torch.zeros(shape, dtype=own), target, sharded=kind == "sharded")


def _on_device(tensor: Any, target: str, *, sharded: bool) -> Any:
    from ttnn_jit import ttnn

    config = None
    if sharded:
        strategy, orientation = ttnn.ShardStrategy.BLOCK, ttnn.ShardOrientation.ROW_MAJOR
        config = ttnn.create_sharded_memory_config(tensor.shape, ttnn.CoreGrid(y=8, x=8), strategy, orientation)
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=_device(target), memory_config=config)


@cache
def _device(target: str) -> Any:
    from ttnn_jit import ttnn

    return ttnn.open_device(target=target)


def _compile_for(name: str) -> None:
    if name == "host":
        return
    from ttnn_jit.kernels import isa

    chosen = {"avx512": isa.AVX512, "avx2": isa.AVX2, "neon": isa.NEON}[name]
    vars(isa)["isa_for"] = lambda *_: chosen
