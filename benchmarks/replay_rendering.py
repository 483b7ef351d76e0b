"""What one checkout makes of a combination: it runs in a process that imports that checkout.

Of its package it uses what every version has: `jit` with ``compile_only``, a program's texts, objects and plan, and,
to compile for another instruction set than the host's, `kernels.isa.isa_for`.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
import types
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from benchmarks.replay_programs import MODEL, PROGRAMS, Combination


def hashes(combinations: list[Combination], isa: str) -> dict[str, dict[str, str]]:
    """Key -> stage -> hash of its text; the process compiles for one instruction set from its first call on."""
    return {combination["key"]: _hashed(render(combination, isa)) for combination in combinations}


def _hashed(texts: dict[str, str]) -> dict[str, str]:
    return {stage: hashlib.sha256(text.encode()).hexdigest()[:20] for stage, text in texts.items()}


def render(combination: Combination, isa: str) -> dict[str, str]:
    """Stage -> text: the IR after every stage, the kernels' text, their object code and the plan; or the error."""
    _compile_for(isa)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _texts(combination)
        except Exception as error:  # noqa: BLE001 - what a checkout raises is compared as well
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
    """The function that a combination compiles, and the tensors that it is given."""
    return _function(combination), [_tensor(combination, place) for place in range(len(combination["shapes"]))]


def _options(combination: Combination) -> dict[str, Any]:
    return combination["options"] | {"enable_cache": False, "graph_capture": combination["frontend"] == "trace"}


def _texts_of_program(program: Any) -> dict[str, str]:
    objects = [f"{name} {_told(code)}" for name, code in program.objects.items()]
    texts = {stage: _NUMBERS_OF_NUMBA.sub("", text) for stage, text in program.texts.items()}
    return {**texts, "plan": program.plan.hash, "objects": "\n".join(sorted(objects))}


_NUMBERS_OF_NUMBA = re.compile(r"(?<=\w)B\d+v\d+(?=B\d)")
"""In symbols: how many functions it had compiled before in the process."""


def _told(code: bytes) -> str:
    return "numba's" if b"NumbaEnv" in code else f"{len(code)} {hashlib.sha256(code).hexdigest()}"


def _texts_of_model(combination: Combination) -> dict[str, str]:
    """Those of all programs that the model calls, in the order in which it calls them."""
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
    """What a module of that text holds, and `ttnn`."""
    from ttnn_jit import ttnn

    # Frontends read the source of what they compile; a time of None says that no file stands behind it.
    file = f"<replayed {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules[file] = types.ModuleType(file)  # dataclasses look for their own
    vars(module)["ttnn"] = ttnn
    exec(compile(text, file, "exec"), vars(module))
    return vars(module)


def _tensor(combination: Combination, place: int) -> Any:
    kind = "thin" if combination["kind"] == "broadcast" and place % 2 else combination["kind"]
    return _made(combination["dtypes"][place], tuple(combination["shapes"][place]), kind, combination["target"])


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
