"""The stubs of what is made from declarations at run time; ``python -m ttnn_jit.tools.stubs`` writes them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import ttnn_jit
from ttnn_jit.ops import ALIASES, EAGER, IN_PLACE, OPERATIONS, OPERATOR_METHODS, OVERLOADS, REFLECTED_METHODS
from ttnn_jit.ops.foreign_movements import METHODS_OF_TTNN, ForeignMovement
from ttnn_jit.ops.signature import KEYWORDS, call_stubs, result_annotation
from ttnn_jit.ttnn.functions.gradients import GRADIENTS
from ttnn_jit.ttnn.namespace.lazy_names import MODULE_OF, SUBMODULES
from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED
from ttnn_jit.ttnn.namespace.names_on_demand import declared_functions

_HEAD = "# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.\n"
_HEAD_OF_NAMES = "# Written by `make docs` from lazy_names.py and host_functions.py; a test proves it current.\n"
_HEAD_OF_FUNCTIONS = """\
\"\"\"Which file has which functions of the host API, so that a name loads its file and no other.

Written by `make docs` from the files; a test proves it current.
\"\"\"
# ruff: noqa: E501

"""


def stubs() -> dict[Path, str]:
    """Where each stub stands, and its text."""
    package = Path(ttnn_jit.__file__).parent
    return {
        package / "ttnn" / "calling" / "eager_functions.pyi": _HEAD + "\n".join(_operations()) + "\n",
        **{package / "ttnn" / f"{each}.pyi": _HEAD + "\n".join(_submodule(each)) + "\n" for each in _WITH_OPERATIONS},
        package / "ttnn" / "namespace" / "host_functions.py": _HEAD_OF_FUNCTIONS + "\n".join(_host_functions()) + "\n",
        package / "ttnn" / "namespace" / "lazy_names.pyi": _HEAD_OF_NAMES + "\n".join(_lazy_names()) + "\n",
        package / "runtime" / "tensors" / "tensor_operators.pyi": _HEAD + "\n".join(_operators()) + "\n",
    }


_NAMES = {**{name: name for name in EAGER}, **ALIASES, **{name: each[0].name for name, each in IN_PLACE.items()}}
"""Name of an eager function -> that of its declarations."""
_WITH_OPERATIONS = sorted({home for home, _, _ in (name.rpartition(".") for name in _NAMES) if home})


def _operations() -> Iterator[str]:
    names = {name: operation for name, operation in _NAMES.items() if "." not in name}
    yield "from collections.abc import Callable, Sequence"
    yield "from typing import Any, Literal, TypedDict, Unpack, overload\n"
    yield "from ttnn_jit.ops.reduction.losses import LossReductionMode"
    yield "from ttnn_jit.specs.dtypes import DataType"
    yield "from ttnn_jit.specs.cores.memory_config import MemoryConfig"
    yield "from ttnn_jit.specs.tensor_spec import Layout"
    yield "from ttnn_jit.runtime.tensors.tensor import Tensor"
    yield "from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation\n"
    yield from ["__all__ = [", *(f'    "{name}",' for name in sorted(names)), "]\n"]
    yield "class Keywords(TypedDict, total=False):"
    yield from (f"    {keyword.name}: {keyword.annotation}" for keyword in KEYWORDS)
    for name in sorted(set(_NAMES.values())):
        yield from _class(name)
    yield ""
    yield "def functions_of(submodule: str) -> dict[str, TtnnOperation]: ..."
    yield from (f"{name}: {_class_name(operation)}" for name, operation in sorted(names.items()))


def _class_name(name: str) -> str:
    return f"_{name.title().replace('_', '').replace('.', '')}"


def _class(name: str) -> Iterator[str]:
    yield f"\nclass {_class_name(name)}(TtnnOperation):"
    summaries = [operation.summary for operation in OVERLOADS[name]]
    yield "    " + '"""' + "\n\n    Or: ".join(summaries) + '"""\n'
    stubs = reversed([*call_stubs(OVERLOADS[name])])
    calls = list({each.replace(" = ...", ""): each for each in stubs}.values())[::-1]
    for parameters in calls:
        if len(calls) > 1:
            yield "    @overload"
        yield f"    def __call__({parameters}) -> {result_annotation(OVERLOADS[name])}: ..."


def _submodule(home: str) -> Iterator[str]:
    """A submodule of ttnn: its operations, and what else it has."""
    module = import_module(f"ttnn_jit.ttnn.{home}")
    own = {name.rpartition(".")[2]: _class_name(_NAMES[name]) for name in _NAMES if name.rpartition(".")[0] == home}
    yield from (f"from ttnn_jit.ttnn.calling.eager_functions import {each}" for each in sorted(set(own.values())))
    for name in sorted(set(module.__all__) - set(own)):
        value = getattr(module, name)
        source = "ttnn_jit.ttnn.calling.eager_functions" if name in _NAMES else value.__module__
        yield f"from {source} import {name} as {name}"
    yield from ["", "__all__ = [", *(f'    "{name}",' for name in sorted(module.__all__)), "]", ""]
    yield from (f"{name}: {each}" for name, each in sorted(own.items()))


def _host_functions() -> Iterator[str]:
    found = declared_functions() | dict.fromkeys(GRADIENTS, "ttnn_jit.ttnn.functions.gradients")
    yield '_NAMES = """\\'
    for module in sorted({*found.values()}):
        yield " ".join([f"{module}:", *sorted(name for name, home in found.items() if home == module)])
    yield '"""'
    yield "_LINES = (line.split(': ') for line in _NAMES.splitlines())".replace("'", '"')
    yield "HOST_FUNCTIONS = {name: module for module, names in _LINES for name in names.split()}"
    yield '"""Name -> its module."""'


def _lazy_names() -> Iterator[str]:
    """The names as imports, and what else the module has."""
    module_of = MODULE_OF | {name: module for name, module in declared_functions().items() if "." not in name}
    for module in dict.fromkeys(module_of.values()):
        names = sorted(name for name, home in module_of.items() if home == module)
        yield from (f"from {module} import {name} as {name}" for name in names)
    yield from (f"from ttnn_jit.ttnn import {name} as {name}" for name in SUBMODULES if name not in MIRRORED)
    yield from ["from ttnn_jit.ttnn.namespace.mirrored_modules import MirroredModule", ""]
    yield from (f"{name}: MirroredModule" for name in SUBMODULES if name in MIRRORED)
    yield from ["", "__all__ = [", *(f'    "{name}",' for name in sorted([*module_of, *SUBMODULES])), "]", ""]
    yield "MODULE_OF: dict[str, str]"
    yield "NO_LINKS: str"
    yield "SETTINGS_EFFECT: str"
    yield "SUBMODULES: tuple[str, ...]"
    yield "WITHOUT_EFFECT: dict[str, str]"


_OF_ANY_OBJECT = ("__eq__", "__ne__")


def _operators() -> Iterator[str]:
    yield "from collections.abc import Sequence\n"
    yield "from ttnn_jit.runtime.tensors.tensor import Tensor\n"
    yield "class TensorOperators:"
    for operation in OPERATIONS:
        if operation.operator:
            method = OPERATOR_METHODS[operation.operator]
            other = "" if operation.arity == 1 else f", other: {operation.operands[1].annotation}"
            narrower = "  # type: ignore[override]" if method in _OF_ANY_OBJECT else ""
            yield f"    def {method}(self{other}) -> Tensor: ...{narrower}"
        if operation.operator in REFLECTED_METHODS:
            yield f"    def {REFLECTED_METHODS[operation.operator]}(self, other: float) -> Tensor: ..."
    yield "    def __getitem__(self, index: object) -> Tensor: ..."
    yield "    def __setitem__(self, index: object, value: Tensor | float) -> None: ..."
    yield from (f"    def {name}({_own_parameters(each)}) -> Tensor: ..." for name, each in METHODS_OF_TTNN.items())
    yield "    def __hash__(self) -> int: ..."


def _own_parameters(movement: ForeignMovement) -> str:
    """Those of a method, from the function that writes it, which takes the tensor's shape in place of the tensor."""
    assert movement.canonicalize is not None, "it moves elements"
    _, *own = inspect.signature(movement.canonicalize).parameters.values()
    return ", ".join(["self", *map(str, own)]).replace("'", "")


def main() -> None:
    """Writes every stub."""
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
