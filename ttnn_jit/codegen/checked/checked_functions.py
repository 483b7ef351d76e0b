"""LLVM functions of functions of the host, in which every access to memory and every branch is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from xdsl.dialects.llvm import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir import Block as TextBlock

from ttnn_jit.codegen.checked.access_checks import FAIL, FIND_RANGE, RUN, check_functions, word
from ttnn_jit.codegen.checked.value_types import llvm_type
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.cpu_module.cpu_functions import CpuFunction
from ttnn_jit.dialects.cpu_module.instruction_attributes import signature
from ttnn_jit.dialects.cpu_module.memory_layout import size_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I1, I64, PTR, VOID, Type
from ttnn_jit.kernels.llvm.values import Block, Value, i64, zero
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.run_record import ENTRY, SEEN_WORDS, Error, Word

MAX_VALUE_BYTES = 2**12
"""A value of more bytes is refused: it would be held in registers or on the stack."""
TERMINATORS = frozenset(f"llvm.{each}" for each in ("br", "cond_br", "return", "unreachable"))
"""The operations that end a block."""


@dataclass(frozen=True)
class CheckedText:
    """The text of a function of the host.

    Attributes:
        text: LLVM IR, whose function `ENTRY` takes the record of a run and an array of wrapped tensors.
        sites: The operations that may fail, by the number that a run reports.
        global_names: The globals, in the order of their addresses.
    """

    text: str
    sites: tuple[Operation, ...]
    global_names: tuple[str, ...]


def written(function: CpuFunction, table: Mapping[str, Write]) -> CheckedText:
    """The text of a function and of all that it calls.

    Args:
        function: The function.
        table: Name of an operation -> what writes it.

    Raises:
        CompileError: An operation or a type of it has no text here.
    """
    module = CheckedModule(function, table)
    texts = [FunctionWriter(module, name).write() for name in function.functions]
    definitions = [*check_functions(module.shared), *texts, _entry(module), module.shared.text()]
    return CheckedText("\n".join(definitions), tuple(module.sites), tuple(module.global_numbers))


@dataclass(frozen=True)
class CheckedModule:
    """A module under construction.

    Attributes:
        function: What is written.
        table: Name of an operation -> what writes it.
        sites: The operations that may fail.
        shared: Receives the declarations.
    """

    function: CpuFunction
    table: Mapping[str, Write]
    sites: list[Operation] = field(default_factory=list)
    shared: ModuleText = field(default_factory=ModuleText)

    @cached_property
    def global_numbers(self) -> dict[str, int]:
        """Names of globals with their places."""
        return {name: index for index, name in enumerate(self.function.globals)}

    @cached_property
    def symbols(self) -> dict[str, str]:
        """Names of functions of the text with their symbols."""
        return {name: f"f{index}" for index, name in enumerate(self.function.functions)}


def _entry(module: CheckedModule) -> str:
    """The function `ENTRY`, which calls the wrapper and notes what it returns."""
    entry = module.function.entry
    parameters, result = signature(entry)
    returned = VOID if result is None else llvm_type(result)
    if [*map(llvm_type, parameters)] != [PTR] or returned not in (VOID, PTR):
        raise CompileError(
            "the wrapper of a function takes other values than an array of tensors", location=location_of(entry)
        )
    b = FunctionBuilder(ENTRY, module.shared, [RUN, Parameter("tensors", PTR)])
    made = b.call(returned, module.symbols[entry.sym_name.data], *b.parameters)
    if returned is PTR:
        b.store(made, word(b, b.parameters[0], Word.RESULT))
    return b.build()


class FunctionWriter(FunctionBuilder):
    """Writes one function.

    Args:
        written: The module that it becomes a part of.
        name: Its name.
    """

    def __init__(self, written: CheckedModule, name: str) -> None:
        self.written = written
        self._function: FuncOp = written.function.functions[name]
        self._label = f"@{name}"
        self._op: Operation = self._function
        parameters, self.returned = signature(self._function)
        arguments = self._function.body.blocks[0].args
        if [each.type for each in arguments] != [*parameters]:
            raise self.refused("its block takes other values than its type says")
        given = [Parameter("", self.type(each.type)) for each in arguments]
        result = VOID if self.returned is None else self.type(self.returned)
        super().__init__(written.symbols[name], written.shared, [RUN, *given], result, is_internal=True)
        self.run = self.parameters[0]
        self._values: dict[SSAValue, Value] = dict(zip(arguments, self.parameters[1:], strict=True))
        self._seen = self.load(PTR, self.word(Word.SEEN))
        self._failed = self.new_block("failed")
        self._blocks: dict[TextBlock, Block] = {}

    def write(self) -> str:
        """The definition."""
        first, *others = _reached_blocks(self._function.body.blocks[0])
        for each in others:
            self._blocks[each] = self.new_block("block", *((self.type(value.type), "") for value in each.args))
        self._write_block(first)
        for each in others:
            self._values.update(zip(each.args, self.begin(self._blocks[each]), strict=True))
            self._write_block(each)
        self.begin(self._failed)
        self.ret(None if self._result is VOID else zero(self._result))
        return self.text

    def _write_block(self, block: TextBlock) -> None:
        if block.last_op is None:
            raise self.refused("a block is empty")
        for op in block.ops:
            self._op = op
            writer = self.written.table.get(name_of(op))
            if writer is None:
                raise CompileError(
                    f"`{name_of(op)}` in {self._label} of the host's module is not executed here",
                    location=location_of(op),
                )
            kinds = [self.type(each.type) for each in op.results]
            if (name_of(op) in TERMINATORS) != (op is block.last_op):
                raise self.refused("a block does not end with its one branch")
            made = writer(self, op, *map(self.value, op.operands))
            if kinds and (made is None or [made.type] != kinds):
                raise self.refused("its result is of another type")
            self._values.update((each, made) for each in op.results if made is not None)

    # What operations read

    def refused(self, reason: str) -> CompileError:
        """The error of the operation that is written."""
        return CompileError(f"`{name_of(self._op)}` of {self._label}: {reason}", location=location_of(self._op))

    def value(self, value: SSAValue) -> Value:
        """An operand."""
        found = self._values.get(value)
        if found is None:
            raise self.refused("it reads a value before it is computed")
        return found

    def type(self, kind: Attribute) -> Type:
        """The type of a value that is held in registers.

        Raises:
            CompileError: Such values are not computed here, or are too large.
        """
        try:
            made, size = llvm_type(kind), size_of(kind)
        except CompileError as error:
            raise self.refused(error.message) from error
        if size > MAX_VALUE_BYTES:
            raise self.refused(f"a value of {size:,} bytes")
        return made

    def target(self, block: TextBlock) -> Block:
        """A target of a branch; never the first block, which no branch may enter."""
        found = self._blocks.get(block)
        if found is None:
            raise self.refused("it enters a block that it cannot enter")
        return found

    # What operations write

    def word(self, which: Word) -> Value:
        """The address of a word of the record."""
        return word(self, self.run, which)

    def site(self) -> Value:
        """The number by which a run reports that the operation failed."""
        self.written.sites.append(self._op)
        return i64(len(self.written.sites) - 1)

    def fail(self, error: Error) -> None:
        """Leave the function with an error."""
        self.call(VOID, FAIL, self.run, i64(error), self.site(), i64(0), i64(0))
        self.branch(self._failed)

    def fail_if(self, condition: Value, error: Error) -> None:
        """Leave the function with an error if a condition holds."""
        fails, holds = self.new_block("fails"), self.new_block("holds")
        self.branch_if(condition, fails, holds, is_rare=True)
        self.begin(fails)
        self.fail(error)
        self.begin(holds)

    def require_no_error(self) -> None:
        """Leave the function if a call has failed."""
        self._leave_if(self.compare("ne", self.load(I64, self.word(Word.ERROR)), 0))

    def _leave_if(self, condition: Value) -> None:
        """Leave the function if a condition holds; the error is in the record by then."""
        goes_on = self.new_block("goes_on")
        self.branch_if(condition, self._failed, goes_on, is_rare=True)
        self.begin(goes_on)

    def require_access(self, pointer: Value, size: int) -> None:
        """Leave the function unless `size` bytes at a pointer lie in a known range."""
        site, address = self.site(), self.convert("ptrtoint", pointer, I64)
        seen = self._seen_at(site)
        low, last, known = (self.load(I64, self.element(seen, I64, index)) for index in range(3))
        generation = self.load(I64, self.word(Word.GENERATION))
        is_before, is_after = self.compare("ult", address, low), self.compare("ugt", address, last)
        is_unknown = self.bit_or(self.bit_or(is_before, is_after), self.compare("ne", generation, known))
        with self.when(is_unknown, "look", is_rare=True):
            self._find_range(address, i64(size), site)

    def require_range(self, pointer: Value, size: Value) -> None:
        """Leave the function unless as many bytes as an i64 says lie in a known range."""
        self._find_range(self.convert("ptrtoint", pointer, I64), size, self.site())

    def _seen_at(self, site: Value) -> Value:
        """The address of the words of an access."""
        return self.element(self._seen, I64, self.mul(site, SEEN_WORDS))

    def _find_range(self, address: Value, size: Value, site: Value) -> None:
        found = self.call(I1, FIND_RANGE, self.run, address, size, site, self._seen_at(site))
        self._leave_if(self.bit_not(found))

    def spend_steps(self, count: Operand) -> Value:
        """Count what takes as long as so many branches; gives how many are left."""
        steps = self.word(Word.STEPS)
        left = self.sub(self.load(I64, steps), count)
        self.store(left, steps)
        return left

    def take_step(self) -> None:
        """Leave the function if it has taken too many steps, or the run is interrupted."""
        with self.when(self.compare("slt", self.spend_steps(1), 0), "extend", is_rare=True):
            self.call_at(self.load(PTR, self.word(Word.EXTEND)), VOID, self.run, self.site())
            self.require_no_error()


Write = Callable[..., Value | None]
"""What writes an operation: (writer of the function, operation, its operands...) -> its result."""


def _reached_blocks(first: TextBlock) -> Sequence[TextBlock]:
    """The blocks that a function may enter; one that dominates another precedes it: the reverse postorder."""
    finished: list[TextBlock] = []
    seen = {first}
    opened: list[tuple[TextBlock, Iterator[TextBlock]]] = [(first, _successors(first))]
    while opened:
        block, successors = opened[-1]
        following = next((each for each in successors if each not in seen), None)
        if following is None:
            finished.append(block)
            opened.pop()
        else:
            seen.add(following)
            opened.append((following, _successors(following)))
    return finished[::-1]


def _successors(block: TextBlock) -> Iterator[TextBlock]:
    return iter(() if block.last_op is None else block.last_op.successors[::-1])
