"""LLVM text of functions of the host, in which every access to memory and every branch is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IndexType, IntegerType
from xdsl.dialects.llvm import FuncOp, LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.codegen.checked.access_checks import DEFINITIONS, SEEN_WORDS, word
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.cpu_module.cpu_functions import CpuFunction
from ttnn_jit.dialects.cpu_module.instruction_attributes import signature
from ttnn_jit.dialects.cpu_module.memory_layout import POINTER_BYTES, size_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.run_record import ENTRY, Error, Word

MAX_VALUE_BYTES = 2**12
"""A value of more bytes is refused: it would be held in registers or on the stack."""


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


def written(function: CpuFunction, table: Mapping[str, Callable[[FunctionWriter, Operation], None]]) -> CheckedText:
    """The text of a function and of all that it calls.

    Args:
        function: The function.
        table: Name of an operation -> what writes it.

    Raises:
        CompileError: An operation or a type of it has no text here.
    """
    module = ModuleText(function, table)
    for name in function.functions:
        FunctionWriter(module, name).write()
    return CheckedText(module.text(), tuple(module.sites), tuple(module.global_numbers))


@dataclass(frozen=True)
class ModuleText:
    """The text of a module under construction.

    Attributes:
        function: What is written.
        table: Name of an operation -> what writes it.
        sites: The operations that may fail.
        definitions: Texts of functions.
        declarations: Lines that declare functions.
    """

    function: CpuFunction
    table: Mapping[str, Callable[[FunctionWriter, Operation], None]]
    sites: list[Operation] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    declarations: dict[str, None] = field(default_factory=dict)

    @property
    def global_numbers(self) -> dict[str, int]:
        """Names of globals with their places."""
        return {name: index for index, name in enumerate(self.function.globals)}

    def symbol(self, name: str) -> str:
        """The symbol of a function of the module."""
        return f"@f{[*self.function.functions].index(name)}"

    def text(self) -> str:
        """The whole text."""
        entry = self.symbol(self.function.entry.sym_name.data)
        parameters, result = signature(self.function.entry)
        if [*map(llvm_type, parameters)] != ["ptr"] or (result is not None and llvm_type(result) != "ptr"):
            raise CompileError(
                "the wrapper of a function takes other values than an array of tensors",
                location=location_of(self.function.entry),
            )
        call = "call void" if result is None else "%made = call ptr"
        kept = "" if result is None else f"  {word('%w', Word.RESULT)}\n  store ptr %made, ptr %w\n"
        body = f"  {call} {entry}(ptr %run, ptr %tensors)\n{kept}  ret void\n"
        main = f"define void @{ENTRY}(ptr %run, ptr %tensors) {{\n{body}}}\n"
        return "".join([*(f"{each}\n" for each in self.declarations), DEFINITIONS, *self.definitions, main])


class FunctionWriter:
    """Writes one function.

    Args:
        module: The text that it becomes a part of.
        name: Its name.
    """

    def __init__(self, module: ModuleText, name: str) -> None:
        self.module = module
        self._function: FuncOp = module.function.functions[name]
        self._name = name
        self._values: dict[SSAValue, str] = {}
        self._slots: dict[SSAValue, str] = {}
        self._blocks = {block: f"b{index}" for index, block in enumerate(self._function.body.blocks)}
        self._entry_lines: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._op: Operation = self._function

    def write(self) -> None:
        """Append the definition to the module."""
        parameters, self._result = signature(self._function)
        arguments = self._function.body.blocks[0].args
        if [each.type for each in arguments] != [*parameters]:
            raise CompileError(
                f"@{self._name} takes other values than its type says", location=location_of(self._function)
            )
        for value in arguments:
            self._values[value] = self.fresh()
        for block in [*self._function.body.blocks][1:]:
            for value in block.args:
                self._slots[value] = self.in_entry(f"alloca {self.type(value.type, self._function)}")
        listed = ", ".join(f"{self.type(each.type, self._function)} {self._values[each]}" for each in arguments)
        for block in self._function.body.blocks:
            self._write_block(block)
        result = "void" if self._result is None else llvm_type(self._result)
        parameters_text = ", ".join(["ptr %run", listed] if listed else ["ptr %run"])
        head = f"define internal {result} {self.module.symbol(self._name)}({parameters_text}) {{"
        self.module.definitions.append(
            "\n".join(
                [head, *self._entry_lines, "  br label %b0", *self._lines, "failed:", f"  {self.zero_return()}", "}\n"]
            )
        )

    def _write_block(self, block: Block) -> None:
        self.label(self._blocks[block])
        if block is not self._function.body.blocks[0]:
            for value in block.args:
                self._values[value] = self.made(f"load {llvm_type(value.type)}, ptr {self._slots[value]}")
        if block.last_op is None:
            raise CompileError(f"a block of @{self._name} is empty", location=location_of(self._function))
        for op in block.ops:
            writer = self.module.table.get(name_of(op))
            if writer is None:
                raise CompileError(
                    f"`{name_of(op)}` in @{self._name} of the host's module is not executed here",
                    location=location_of(op),
                )
            for value in op.results:
                self.type(value.type, op)
            self._op = op
            writer(self, op)
        if not self._lines[-1].lstrip().startswith(("br ", "ret ", "unreachable")):
            raise CompileError(
                f"a block of @{self._name} does not end with a branch", location=location_of(block.last_op)
            )

    # What operations write

    def fresh(self) -> str:
        """A new name of a value."""
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        """The next line."""
        self._lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """The beginning of a block."""
        self._lines.append(f"{name}:")

    def made(self, text: str) -> str:
        """The value of an instruction."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def in_entry(self, text: str) -> str:
        """The value of an instruction before the first block."""
        name = self.fresh()
        self._entry_lines.append(f"  {name} = {text}")
        return name

    def define(self, value: SSAValue, text: str) -> None:
        """Define the result of an operation by an instruction."""
        self._values[value] = self.made(text)

    def define_as(self, value: SSAValue, text: str) -> None:
        """Define the result of an operation as a constant, or as another value."""
        self._values[value] = text

    def value(self, value: SSAValue) -> str:
        """The text of an operand."""
        found = self._values.get(value)
        if found is None:
            raise CompileError(
                f"`{name_of(self._op)}` of @{self._name} reads a value before it is computed",
                location=location_of(self._op),
            )
        return found

    def typed(self, value: SSAValue) -> str:
        """The text of an operand with its type."""
        return f"{llvm_type(value.type)} {self.value(value)}"

    def type(self, kind: Attribute, op: Operation) -> str:
        """The text of the type of a value that is held in registers.

        Raises:
            CompileError: Such values are not computed here, or are too large.
        """
        try:
            text, size = llvm_type(kind), size_of(kind)
        except CompileError as error:
            raise CompileError(f"`{name_of(op)}`: {error.message}", location=location_of(op)) from error
        if size > MAX_VALUE_BYTES:
            raise CompileError(f"`{name_of(op)}` has a value of {size:,} bytes", location=location_of(op))
        return text

    def declare(self, line: str) -> None:
        """Declare a function."""
        self.module.declarations[line] = None

    def site(self, op: Operation) -> int:
        """The number by which a run reports that `op` failed."""
        self.module.sites.append(op)
        return len(self.module.sites) - 1

    def zero_return(self) -> str:
        """The return of a function that failed."""
        return "ret void" if self._result is None else f"ret {llvm_type(self._result)} zeroinitializer"

    def require(self, condition: str) -> None:
        """Leave the function if a condition does not hold; the error is in the record by then."""
        after = f"ok{self.fresh()[1:]}"
        self.line(f"br i1 {condition}, label %{after}, label %failed")
        self.label(after)

    def require_or(self, condition: str, error: Error, op: Operation) -> None:
        """Leave the function with an error if a condition does not hold."""
        name = self.fresh()[1:]
        self.line(f"br i1 {condition}, label %ok{name}, label %no{name}")
        self.label(f"no{name}")
        self.line(f"call void @fail(ptr %run, i64 {int(error)}, i64 {self.site(op)}, i64 0, i64 0)")
        self.line("br label %failed")
        self.label(f"ok{name}")

    def require_no_error(self) -> None:
        """Leave the function if a call has failed."""
        known = self.made(f"load i64, ptr {self.word(Word.ERROR)}")
        self.require(self.made(f"icmp eq i64 {known}, 0"))

    def word(self, which: Word) -> str:
        """The address of a word of the record."""
        name = self.fresh()
        self.line(word(name, which))
        return name

    def require_access(self, pointer: SSAValue, size: int, op: Operation) -> None:
        """Leave the function unless `size` bytes at a pointer lie in a known range."""
        name, site = self.fresh()[1:], self.site(op)
        seen = self.in_entry(f"alloca [{SEEN_WORDS} x i64]")
        self._entry_lines.append(f"  store [{SEEN_WORDS} x i64] [i64 -1, i64 0, i64 0], ptr {seen}")
        address = self.made(f"ptrtoint {self.typed(pointer)} to i64")
        places = [seen] + [self.made(f"getelementptr i64, ptr {seen}, i64 {index}") for index in (1, 2)]
        low, last, known = (self.made(f"load i64, ptr {each}") for each in places)
        generation = self.made(f"load i64, ptr {self.word(Word.GENERATION)}")
        is_after = self.made(f"icmp uge i64 {address}, {low}")
        is_before = self.made(f"icmp ule i64 {address}, {last}")
        is_same = self.made(f"icmp eq i64 {generation}, {known}")
        both = self.made(f"and i1 {is_after}, {is_before}")
        is_inside = self.made(f"and i1 {both}, {is_same}")
        self.line(f"br i1 {is_inside}, label %ok{name}, label %look{name}")
        self.label(f"look{name}")
        found = self.made(f"call i1 @find_range(ptr %run, i64 {address}, i64 {size}, i64 {site}, ptr {seen})")
        self.line(f"br i1 {found}, label %ok{name}, label %failed")
        self.label(f"ok{name}")

    def require_range(self, pointer: SSAValue, size: str, op: Operation) -> None:
        """Leave the function unless as many bytes as an i64 says lie in a known range."""
        seen = self.in_entry(f"alloca [{SEEN_WORDS} x i64]")
        address = self.made(f"ptrtoint {self.typed(pointer)} to i64")
        arguments = f"ptr %run, i64 {address}, i64 {size}, i64 {self.site(op)}, ptr {seen}"
        self.require(self.made(f"call i1 @find_range({arguments})"))

    def take_step(self, op: Operation) -> None:
        """Leave the function if it has taken too many steps."""
        self.require(self.made(f"call i1 @take_step(ptr %run, i64 {self.site(op)})"))

    def spend_steps(self, count: str) -> None:
        """Count what takes as long as so many branches; the next branch is where the function stops."""
        steps = self.word(Word.STEPS)
        left = self.made(f"load i64, ptr {steps}")
        self.line(f"store i64 {self.made(f'sub i64 {left}, {count}')}, ptr {steps}")

    def jump_values(self, target: Block, given: tuple[SSAValue, ...]) -> list[tuple[str, str]]:
        """What a branch passes to its target: each value with its type, and the stack slot that it is stored in."""
        return [(self.typed(each), self._slots[argument]) for argument, each in zip(target.args, given, strict=True)]

    def block_label(self, block: Block, op: Operation) -> str:
        """The label of a target of a branch; never the first block, which no branch may enter."""
        found = self._blocks.get(block)
        if found is None or found == "b0":
            raise CompileError("a branch enters a block that it cannot enter", location=location_of(op))
        return found

    @property
    def result(self) -> Attribute | None:
        """The type of the function's result."""
        return self._result


_SCALARS: Mapping[type[Attribute], str] = {
    BFloat16Type: "bfloat",
    Float16Type: "half",
    Float32Type: "float",
    Float64Type: "double",
    IndexType: "i64",
    LLVMPointerType: "ptr",
}


def llvm_type(kind: Attribute) -> str:
    """The LLVM text of a type.

    Raises:
        CompileError: Values of this type are not computed here.
    """
    match kind:
        case LLVMStructType():
            return f"{{ {', '.join(map(llvm_type, kind.types.data))} }}"
        case LLVMArrayType():
            return f"[{kind.size.data} x {llvm_type(kind.type)}]"
        case IntegerType():
            size_of(kind)
            return f"i{kind.width.data}"
    found = _SCALARS.get(type(kind))
    if found is None:
        raise CompileError(f"values of {kind} are not computed on the host")
    return found


assert POINTER_BYTES == 8, "the words of a record hold addresses"
