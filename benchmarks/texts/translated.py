"""How many modules of a tree become Python programs: ``python -m benchmarks.texts.translated TREE --dialect ttnn``.

Every positive module of ttir, ttnn or stablehlo in the tree that has a program here is translated
(`ttnn-jit translate --mlir-to-python`). Of each entry point are counted:

- *translated*: every op has a call in ttnn;
- *same IR*: the AST frontend makes an equal module of the function; one without arguments takes a device, and has none;
- *same results*: the program, called with tensors in tiles on a device of the text's target, gives what the text gives,
  up to sums in another order and one rounding more (`passes_keep_results`).
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from benchmarks.texts.bounds import TooSlowError
from benchmarks.texts.executes import DIALECTS, Piece, pieces
from benchmarks.texts.passes_keep_results import disagreement
from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.text_calls.tensor_types import spec_in_text
from ttnn_jit.emitpy import identifier
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.frontend.ir.device_lowering import DeviceLowering
from ttnn_jit.frontend.ir.lowered_text import LoweredText
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import Layout
from ttnn_jit.tools.texts.inputs import draw_inputs
from ttnn_jit.tools.texts.run_text import chosen_entries
from ttnn_jit.tools.texts.translate_text import on_chip, translated_text

_FILES = count()


class TooLargeError(Exception):
    """A module with more elements than `--elements`."""


def namespace_of(source: str, folder: Path) -> dict[str, Any]:
    """The names of a program, which lies in a file."""
    file = folder / f"model{next(_FILES)}.py"
    file.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__file__": str(file), "__name__": file.stem}
    exec(compile(source, file, "exec"), names)
    return names


def lowered_of(module: TextModule, name: str) -> LoweredText:
    """An entry point in IR; on a mesh, as each device runs it."""
    if math.prod(module.mesh) == 1:
        return module.program(name).lowered
    lowering = DeviceLowering(module.functions, module.target, name, module.mesh)
    return lowering.lower_on_device(module.functions[name]).lowered


def mesh_of_module(module: TextModule) -> MeshShape | None:
    """The shape of its mesh; None of one device."""
    return None if math.prod(module.mesh) == 1 else MeshShape((1,) * (2 - len(module.mesh)) + tuple(module.mesh))


def is_same_module(function: Any, module: TextModule, name: str) -> bool:
    """Whether the AST frontend makes the module of an entry point of its function in Python."""
    lowered, mesh = lowered_of(module, name), mesh_of_module(module)
    devices = None if mesh is None else MeshDevices(mesh, tuple(range(mesh.mesh_size())))
    code = function.__code__
    arguments = {
        parameter: TensorArgument(spec)
        for parameter, spec in zip(code.co_varnames[: code.co_argcount], lowered.specs, strict=False)
    }
    made = lower(FrontendRequest(function, arguments, module.target, False, devices=devices)).module
    found = print_module(made).replace(f"@{function.__name__}(", f"@{name}(")
    return found == print_module(lowered.module)


def measure(piece: Piece, options: argparse.Namespace, counts: Counter[str], folder: Path) -> None:
    """Counts what becomes of each entry point of a module.

    Raises:
        Exception: It is not translated, or gives other results.
    """
    asked = argparse.Namespace(target=None, mesh=piece.mesh, entry=None)
    entries = chosen_entries(asked, piece.text, piece.place, on_chip)
    for module, name in entries:
        function = module.functions[name]
        volume = sum(
            spec_in_text(value.type).volume
            for op in function.walk()
            for value in op.results
            if str(value.type).startswith("tensor<")
        )
        if volume > options.elements:
            raise TooLargeError(f"{volume:,} elements")
        module.program(name)
        counts["entry points"] += 1
    program = translated_text(asked, piece.text, piece.place)
    counts["translated"] += len(entries)
    names = namespace_of(program.source, folder)
    torch.save(dict(program.constants), Path(names["__file__"]).with_suffix(".pt"))
    for module, name in entries:
        _compare(names, module, name, counts, is_only=len(entries) == 1)


def _compare(names: dict[str, Any], module: TextModule, name: str, counts: Counter[str], *, is_only: bool) -> None:
    function = names[identifier(name)]
    own = module.program(name)
    if lowered_of(module, name).specs:
        if not is_same_module(function, module, name):
            raise AssertionError("another module")
        counts["same IR"] += 1
    else:
        counts["without arguments"] += 1
    inputs = draw_inputs(module.functions[name], own.arguments, 0)
    wanted = own(*inputs)
    mesh = mesh_of_module(module)
    device = Device(module.target) if mesh is None else ttnn.open_mesh_device(mesh, target=module.target)

    def called(hint: str) -> Any:
        return names.get(hint if is_only else f"{hint}_{function.__name__}")

    if mesh is None:
        given = [ttnn.from_torch(each, layout=Layout.TILE, device=device) for each in inputs]
    else:
        given = called("distribute")(device, *inputs)
    more = called("prepare")(device, *given) if called("prepare") else []
    found = function(*([*given, *more] or [device]))
    if mesh is None:
        listed = [] if found is None else [*found] if isinstance(found, tuple) else [found]
        found = map(ttnn.to_torch, listed)
    else:
        found = called("aggregate")(found)
    difference = disagreement(wanted, [each.to(own.dtype) for each, own in zip(found, wanted, strict=True)])
    if difference:
        raise AssertionError(difference)
    counts["same results"] += 1


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError("too slow")


def main() -> None:
    """Prints the counts, and the reasons on stderr."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--dialect", choices=DIALECTS, action="append")
    parser.add_argument("--elements", type=int, default=2_000_000, help="larger modules are left out")
    parser.add_argument("--seconds", type=int, default=20, help="slower modules are left out")
    parser.add_argument("--verbose", action="store_true", help="print the outcome of every module")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _interrupt)
    sys.modules["ttnn"] = ttnn  # type: ignore[assignment]  # as under `python -m ttnn_jit`
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for dialect in options.dialect or DIALECTS:
            counts: Counter[str] = Counter()
            for piece in pieces(options.tree):
                if piece.dialect == dialect and options.only in piece.place:
                    outcome = _outcome(piece, options, counts, Path(folder))
                    reasons[f"{dialect}: {outcome}"] += bool(outcome)
                    if options.verbose:
                        print(f"{piece.place}\t{outcome}", flush=True)
            print(f"{dialect}: " + ", ".join(f"{number} {what}" for what, number in counts.items()))
    for reason, number in reasons.most_common():
        if number:
            print(f"{number:>5}  {reason}", file=sys.stderr)


def _outcome(piece: Piece, options: argparse.Namespace, counts: Counter[str], folder: Path) -> str:
    signal.alarm(options.seconds)
    try:
        measure(piece, options, counts, folder)
    except TtnnJitError as error:
        return f"{type(error).__name__}: {error.message}"[:200].replace("\n", " ")
    except Exception as error:  # noqa: BLE001 - any failure is an outcome of this yardstick
        return f"{type(error).__name__}: {error}"[:200].replace("\n", " ")
    finally:
        signal.alarm(0)
    return ""


if __name__ == "__main__":
    main()
