"""Functions of the host's module: which one a call means, what it calls, and its constants.

tt-mlir emits two functions for each function that it hoists from a device: one over memref descriptors, and
`<name>_helper`, which the runtime calls with an array of `WrappedTensor` (LLVM/Transforms/EmitWrapperFuncs.cpp,
runtime/detail/common/dylib.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import IntegerType, ModuleOp, ShapedType, StringAttr
from xdsl.dialects.llvm import FuncOp, GlobalOp
from xdsl.ir import Attribute, Operation

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.cpu_module.instruction_attributes import attribute, symbol
from ttnn_jit.dialects.cpu_module.memory_layout import scalars_in, size_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of, value_of
from ttnn_jit.ops.families.text_operation import DenseNumbers
from ttnn_jit.process.dataclass import dataclass

HELPER_SUFFIX = "_helper"
MAX_SCALARS = 2**15
"""Functions whose operations have more together are refused: LLVM takes a tenth of a millisecond for each."""
MAX_DEPTH = 64
"""Calls inside of calls; more are refused, because each takes room on the stack of the calling thread."""
MAX_GLOBAL_BYTES = 2**30
MAX_FRAME_BYTES = 2**20
"""Values of functions that call each other lie on the stack of the calling thread; more bytes of them are refused."""


@dataclass(frozen=True)
class CpuFunction:
    """A function of the host's module with everything that it calls.

    Attributes:
        name: The name by which the device's module calls it.
        entry: The function that takes an array of `WrappedTensor`.
        functions: Functions with a body by name: the entry, and those that it calls.
        externals: The names of functions without a body that these call.
        globals: The globals that these read, by name.
        scalars: How many scalars their operations have as results, at least one each.
    """

    name: str
    entry: FuncOp
    functions: Mapping[str, FuncOp]
    externals: frozenset[str]
    globals: Mapping[str, GlobalOp]
    scalars: int

    @property
    def ranks(self) -> tuple[int, ...] | None:
        """The ranks of the tensors that the function takes, which tt-mlir notes; None if the text does not say."""
        own = self.functions.get(self.name)
        noted = None if own is None else own.attributes.get("arg_ranks")
        found = () if noted is None else value_of(noted)
        return tuple(found) if noted is not None and isinstance(found, tuple | list) else None

    @property
    def global_bytes(self) -> dict[str, bytes]:
        """The contents of the globals, by name."""
        return {name: contents_of(each) for name, each in self.globals.items()}


def has_cpu_function(op: Operation, name: str) -> bool:
    """Whether the host's module beside `op` has a function of LLVM's dialect of this name, with a body."""
    found = _symbols_beside(op).get(name)
    return isinstance(found, FuncOp) and found.body.first_block is not None


def cpu_function(op: Operation, name: str) -> CpuFunction:
    """The function of the host's module that `op` calls.

    Raises:
        CompileError: It has no wrapper, calls itself or what does not exist, or is too large.
    """
    symbols = _symbols_beside(op)
    entry = symbols.get(name + HELPER_SUFFIX)
    if not isinstance(entry, FuncOp) or entry.body.first_block is None:
        raise CompileError(
            f"the host's module has @{name}, and no @{name}{HELPER_SUFFIX}, by which a runtime calls it",
            location=location_of(op),
            help="`--llvm-emit-calling-convention-wrappers` of tt-mlir writes it",
        )
    reached = _Reached(symbols)
    reached.visit(name + HELPER_SUFFIX, op)
    return CpuFunction(name, entry, reached.functions, frozenset(reached.externals), reached.globals, reached.scalars)


def _symbols_beside(op: Operation) -> dict[str, Operation]:
    """The functions and globals of the host's modules in the outermost module around `op`."""
    outermost = op
    while (parent := outermost.parent_op()) is not None:
        outermost = parent
    found: dict[str, Operation] = {}
    for each in _host_operations(outermost):
        named = each.properties.get("sym_name")
        if isinstance(named, StringAttr):
            found.setdefault(named.data, each)
    return found


def _host_operations(outermost: Operation) -> Iterator[Operation]:
    """The operations of the bodies of modules of the host."""
    for op in _inside(outermost):
        if name_of(op) == "ttcore.cpu_module" or "ttir.cpu_module" in op.attributes:
            yield from (each for module in _inside(op) for each in _contents(module))
        elif isinstance(op, ModuleOp):
            yield from _host_operations(op)


def _inside(op: Operation) -> Iterator[Operation]:
    """The operations directly inside of one."""
    return (each for region in op.regions for block in region.blocks for each in block.ops)


def _contents(op: Operation) -> Iterator[Operation]:
    if isinstance(op, ModuleOp):
        yield from _inside(op)
    else:
        yield op


class _Reached:
    """What a function calls and reads, itself included."""

    def __init__(self, symbols: Mapping[str, Operation]) -> None:
        self._symbols = symbols
        self._open: list[str] = []
        self._depths: dict[str, int] = {}
        self._bytes = 0
        self.scalars = 0
        self.functions: dict[str, FuncOp] = {}
        self.externals: set[str] = set()
        self.globals: dict[str, GlobalOp] = {}

    def visit(self, name: str, caller: Operation) -> int:
        """Add a function that `caller` calls; gives how deep calls in it nest."""
        function = self._symbols.get(name)
        if not isinstance(function, FuncOp):
            raise CompileError(f"the host's module has no function @{name}", location=location_of(caller))
        if name in self._open:
            raise CompileError(f"@{name} of the host's module calls itself", location=location_of(caller))
        if function.body.first_block is None:
            self.externals.add(name)
            return 0
        if len(self._open) + self._depths.get(name, 1) > MAX_DEPTH:
            raise CompileError(
                f"calls of functions of the host nest more than {MAX_DEPTH} deep", location=location_of(caller)
            )
        if name not in self._depths:
            self.functions[name] = function
            self._open.append(name)
            self._depths[name] = 1 + max(map(self._visit_op, function.body.walk()), default=0)
            self._open.pop()
        return self._depths[name]

    def _visit_op(self, op: Operation) -> int:
        """Count an operation; gives how deep calls in it nest."""
        self.scalars += max(1, sum(scalars_in(each.type) for each in op.results))
        self._bytes += sum(map(_frame_bytes, op.results))
        if self.scalars > MAX_SCALARS or self._bytes > MAX_FRAME_BYTES:
            raise CompileError(
                f"a function of the host with more than {MAX_SCALARS:,} scalars or {MAX_FRAME_BYTES:,} bytes of values",
                location=location_of(op),
            )
        if name_of(op) == "llvm.call":
            return self.visit(symbol(op, "callee"), op)
        if name_of(op) == "llvm.mlir.addressof":
            self._visit_global(symbol(op, "global_name"), op)
        return 0

    def _visit_global(self, name: str, user: Operation) -> None:
        found = self._symbols.get(name)
        if not isinstance(found, GlobalOp):
            raise CompileError(f"the host's module has no global @{name}", location=location_of(user))
        self.globals[name] = found


def _frame_bytes(value: object) -> int:
    kind = getattr(value, "type", None)
    try:
        return size_of(kind) if isinstance(kind, Attribute) else 0
    except CompileError:
        return 0  # what writes the value refuses it, with its place


def contents_of(op: GlobalOp) -> bytes:
    """The bytes of a global.

    Raises:
        CompileError: Its numbers are not in the text, or are no value of its type.
    """
    location, name = location_of(op), op.sym_name.data
    size = size_of(op.global_type)
    if size > MAX_GLOBAL_BYTES:
        raise CompileError(f"the global @{name} has {size:,} bytes", location=location)
    value = None if op.value is None else value_of(attribute(op, "value"))
    if isinstance(value, str):
        data = value.encode()
    elif isinstance(value, DenseNumbers):
        data = _packed(value, op.value)
    else:
        raise CompileError(f"the global @{name} has no numbers that are known here", location=location)
    if len(data) != size:
        raise CompileError(f"the global @{name} has {size} bytes, and its numbers have {len(data)}", location=location)
    return data


def _packed(numbers: DenseNumbers, value: Attribute | None) -> bytes:
    """Numbers in memory, each in the bytes of the element type."""
    import numpy as np

    kind = getattr(value, "type", None)
    assert isinstance(kind, ShapedType), "dense numbers have a shape"
    element = kind.element_type  # type: ignore[attr-defined]
    width = size_of(element)
    listed = numbers.numbers
    count = int(np.prod(numbers.shape, dtype=np.int64))
    if numbers.splat is not None:
        listed = (numbers.splat,)
    if isinstance(element, IntegerType):
        made = np.array([int(each) & (2 ** (8 * width) - 1) for each in listed], f"u{width}")
    elif width == 2:
        raise CompileError(f"numbers of {element} in a global are not read")
    else:
        made = np.array(listed, f"f{width}")
    return (np.broadcast_to(made, count) if len(listed) == 1 else made).tobytes()
