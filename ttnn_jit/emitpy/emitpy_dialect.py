"""Modules of the dialect emitpy as Python: each operation is the statement or expression that it stands for.

Values that ``emitpy.literal`` and ``emitpy.expression`` give are written where they are read. Any other value is a
variable, with the name that ``emitpy.name`` suggests. ``emitpy.call_opaque "util_create_list"`` is a list.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IndexType, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import errors_at
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.emitpy.python_source import identifier, indented
from ttnn_jit.emitpy.value_text import float_text

_LIST = "util_create_list"
_NAME = "emitpy.name"


def python_of_emitpy(modules: Sequence[ModuleOp]) -> str:
    """The Python of modules of emitpy, one after the other.

    Raises:
        CompileError: An operation stands for no statement; the error has its location.
    """
    return "\n\n\n".join("\n".join(_Scope().statements(each.body)) for each in modules).strip() + "\n"


def is_of_emitpy(modules: Sequence[ModuleOp]) -> bool:
    """Whether modules hold operations of emitpy."""
    return any(name_of(op).startswith("emitpy.") for each in modules for op in each.walk())


class _Scope:
    """Variables of a Python scope, and what is written in it.

    Args:
        outer: The scope around it, whose variables it sees.
        in_class: Whether its functions are methods.
    """

    def __init__(self, outer: _Scope | None = None, *, in_class: bool = False) -> None:
        self.texts: dict[SSAValue, str] = {} if outer is None else {**outer.texts}
        self.used: set[str] = set() if outer is None else {*outer.used}
        self.in_class = in_class

    def statements(self, region: Region) -> Iterator[str]:
        """The lines of the operations of a region, which has one block."""
        for block in region.blocks:
            for op in block.ops:
                yield from self.statement(op)

    def statement(self, op: Operation) -> Iterator[str]:
        """The lines of an operation.

        Raises:
            CompileError: It stands for no statement, or lacks an attribute.
        """
        found = _STATEMENTS.get(name_of(op))
        if found is None:
            raise CompileError(f"`{name_of(op)}` stands for no statement of Python", location=location_of(op))
        with errors_at(op):
            yield from found(self, op)

    def text(self, value: SSAValue, hint: str = "") -> str:
        """The source of a value."""
        if value not in self.texts:
            owner = value.owner
            if isinstance(owner, Operation) and (found := _EXPRESSIONS.get(name_of(owner))) and self._is_inner(owner):
                return found(self, owner)
            self.texts[value] = self.free(hint)
        return self.texts[value]

    @staticmethod
    def _is_inner(op: Operation) -> bool:
        parent = op.parent_op()
        return parent is not None and name_of(parent) == "emitpy.expression"

    def free(self, hint: str) -> str:
        """A name that nothing has here, and has from now on."""
        base = identifier(hint) if hint else "var"
        tries = itertools.chain([base] if hint else [], (f"{base}_{number}" for number in itertools.count()))
        name = next(each for each in tries if each not in self.used)
        self.used.add(name)
        return name

    def assigned(self, op: Operation, expression: str) -> str:
        """An assignment of the results of an operation; the expression alone if it has none."""
        if not op.results:
            return expression
        suggested = op.attributes.get(_NAME)
        hint = suggested.data if isinstance(suggested, StringAttr) and len(op.results) == 1 else ""
        for value in op.results:
            self.texts[value] = self.free(hint)
        return f"{', '.join(self.texts[value] for value in op.results)} = {expression}"

    def listed(self, values: Sequence[SSAValue]) -> str:
        """The sources of values, separated by commas."""
        return ", ".join(map(self.text, values))

    def body(self, region: Region) -> Iterator[str]:
        """The lines of an indented region."""
        yield from map(indented, [*self.statements(region)] or ["pass"])


# --- Expressions ------------------------------------------------------------------------------------------------------


def _call(scope: _Scope, op: Operation) -> str:
    callee, given = _string(op, "callee"), op.properties.get("args")
    if callee == _LIST:
        return f"[{scope.listed(op.operands)}]"
    if given is None:
        return f"{callee}({scope.listed(op.operands)})"
    words = [each.data for each in getattr(op.properties.get("keyword_args"), "data", ())]
    values = [_argument(scope, op, each) for each in given.data]  # type: ignore[attr-defined]
    words += [""] * (len(values) - len(words))
    arguments = [f"{word}={value}" if word else value for word, value in zip(words, values, strict=False)]
    return f"{callee}({', '.join(arguments)})"


def _argument(scope: _Scope, op: Operation, attribute: Attribute) -> str:
    """An argument: an operand if the attribute is an index, else a constant."""
    if isinstance(attribute, IntegerAttr) and isinstance(attribute.type, IndexType):
        index = attribute.value.data
        if not 0 <= index < len(op.operands):
            raise CompileError(f"`{op.name}` has no operand {index}", location=location_of(op))
        return scope.text(op.operands[index])
    return _constant(op, attribute)


def _constant(op: Operation, attribute: Attribute | None) -> str:
    match attribute:
        case IntegerAttr():
            return str(attribute.value.data)
        case FloatAttr():
            number = attribute.value.data
            return float_text(number) if math.isfinite(number) else f'float("{number}")'
        case StringAttr():
            escaped = attribute.data.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{escaped}"'
        case TableAttribute():
            return str(attribute.value("value"))
    raise CompileError(f"{attribute} is no constant of Python", location=location_of(op))


def _subscript(scope: _Scope, op: Operation) -> str:
    return f"{scope.text(op.operands[0])}[{scope.text(op.operands[1])}]"


def _get_attr(scope: _Scope, op: Operation) -> str:
    return f"{scope.text(op.operands[0])}.{_string(op, 'attr_name')}"


def _func_call(scope: _Scope, op: Operation) -> str:
    return f"{_symbol(op, 'callee')}({scope.listed(op.operands)})"


def _dictionary(scope: _Scope, op: Operation) -> str:
    literal = op.properties.get("literal_expr")
    if isinstance(literal, StringAttr):
        return literal.data
    texts = [*map(scope.text, op.operands)]
    return f"{{{', '.join(f'{key}: {value}' for key, value in zip(texts[::2], texts[1::2], strict=True))}}}"


_EXPRESSIONS: Mapping[str, Callable[[_Scope, Operation], str]] = {
    "emitpy.call_opaque": _call,
    "emitpy.constant": lambda scope, op: _constant(op, op.properties["value"]),  # noqa: ARG005 - one signature
    "emitpy.literal": lambda scope, op: _string(op, "value"),  # noqa: ARG005
    "emitpy.subscript": _subscript,
    "emitpy.get_attr": _get_attr,
    "emitpy.get_global": lambda scope, op: _symbol(op, "name"),  # noqa: ARG005
    "func.call": _func_call,
}
"""Operations that stand for an expression."""


# --- Statements -------------------------------------------------------------------------------------------------------


def _assigned(scope: _Scope, op: Operation) -> Iterator[str]:
    yield scope.assigned(op, _EXPRESSIONS[name_of(op)](scope, op))


def _literal(scope: _Scope, op: Operation) -> Iterator[str]:
    scope.texts[op.results[0]] = _string(op, "value")
    yield from ()


def _expression(scope: _Scope, op: Operation) -> Iterator[str]:
    """An expression is written where its value is read, unless it has ``do_not_inline``."""
    block = op.regions[0].block
    inner = _Scope(scope)
    for argument, operand in zip(block.args, op.operands, strict=True):
        inner.texts[argument] = scope.text(operand)
    if "do_not_inline" not in op.properties:
        assert block.last_op is not None
        scope.texts[op.results[0]] = inner.text(block.last_op.operands[0])
        return
    for each in block.ops:
        if name_of(each) == "emitpy.yield":
            scope.used |= inner.used
            yield scope.assigned(op, inner.text(each.operands[0]))
        else:
            yield from inner.statement(each)


def _function(scope: _Scope, op: Operation) -> Iterator[str]:
    assert isinstance(op, FuncOp)
    if not op.body.blocks:
        return
    name = op.sym_name.data
    scope.used.add(name)
    inner = _Scope(scope)
    if not scope.in_class:
        yield from ["", ""]
    kind = op.attributes.get("emitpy.method_kind")
    if isinstance(kind, StringAttr):
        yield f"@{kind.data}"
    defaults = ["self" if scope.in_class and index == 0 else "inputs" for index in range(len(op.body.block.args))]
    hints = [*map(_hint, op.arg_attrs.data, defaults)] if op.arg_attrs else defaults
    yield from _defined(inner, name, op.body.block, hints)
    if scope.in_class:
        yield ""
    elif name == "main":
        yield from ["", "", 'if __name__ == "__main__":', "    main()"]


def _hint(notes: Attribute, default: str) -> str:
    """The name that the attributes of an argument suggest."""
    found = notes.data.get(_NAME) if isinstance(notes, DictionaryAttr) else None
    return found.data if isinstance(found, StringAttr) else default


def _defined(inner: _Scope, name: str, block: Block, hints: Sequence[str]) -> Iterator[str]:
    parameters = [inner.text(value, hint) for value, hint in zip(block.args, hints, strict=True)]
    yield f"def {name}({', '.join(parameters)}):"
    region = block.parent
    assert region is not None
    yield from inner.body(region)


def _nested_function(scope: _Scope, op: Operation) -> Iterator[str]:
    name = _string(op, "sym_name")
    scope.used.add(name)
    block = op.regions[0].block
    yield from _defined(_Scope(scope), name, block, ["arg"] * len(block.args))


def _return(scope: _Scope, op: Operation) -> Iterator[str]:
    yield f"return {scope.listed(op.operands)}".rstrip()


def _class(scope: _Scope, op: Operation) -> Iterator[str]:
    bases = [
        symbol_of(each) if isinstance(each, SymbolRefAttr) else str(_constant(op, each))
        for each in getattr(op.properties.get("base_classes"), "data", ())
    ]
    listed = f"({', '.join(bases)})" if bases else ""
    yield from ["", "", f"class {_string(op, 'sym_name')}{listed}:"]
    yield from _Scope(scope, in_class=True).body(op.regions[0])


def _if(scope: _Scope, op: Operation) -> Iterator[str]:
    word = "if"
    while True:
        yield f"{word} {_formatted(scope, op, 'condition')}:"
        yield from scope.body(op.regions[0])
        otherwise = [each for region in op.regions[1:] for block in region.blocks for each in block.ops]
        if not otherwise:
            return
        if len(otherwise) > 1 or name_of(otherwise[0]) != "emitpy.if" or _has_else(otherwise[0]):
            yield "else:"
            yield from scope.body(op.regions[1])
            return
        word, op = "elif", otherwise[0]


def _has_else(op: Operation) -> bool:
    return any(block.first_op is not None for region in op.regions[1:] for block in region.blocks)


def _formatted(scope: _Scope, op: Operation, name: str) -> str:
    """A text whose places ``{}`` are operands; ``{{`` and ``}}`` are braces."""
    values = iter(op.operands)

    def written(found: re.Match[str]) -> str:
        return scope.text(next(values)) if found[0] == "{}" else found[0][0]

    text = _string(op, name)
    if len(re.findall(r"(?<!\{)\{\}(?!\})", text)) != len(op.operands):
        raise CompileError(f"`{op.name}` has {len(op.operands)} operands for `{text}`", location=location_of(op))
    return re.sub(r"\{\{|\}\}|\{\}", written, text) if op.operands else text


def _import(scope: _Scope, op: Operation) -> Iterator[str]:  # noqa: ARG001 - one signature
    properties = op.properties
    module = _string(op, "module_name")
    if "import_all" in properties:
        yield f"from {module} import *"
        return
    members = [each.data for each in getattr(properties.get("members_to_import"), "data", ())]
    aliases = [each.data for each in getattr(properties.get("member_aliases"), "data", ())]
    aliases += [""] * (len(members) - len(aliases))
    if members:
        named = (f"{name} as {alias}" if alias else name for name, alias in zip(members, aliases, strict=False))
        yield f"from {module} import {', '.join(named)}"
        return
    alias = properties.get("module_alias")
    yield f"import {module} as {alias.data}" if isinstance(alias, StringAttr) and alias.data else f"import {module}"


def _global(scope: _Scope, op: Operation) -> Iterator[str]:
    name = _string(op, "sym_name")
    scope.used.add(name)
    yield f"{name} = {_constant(op, op.properties['initial_value'])}"


def _global_statement(scope: _Scope, op: Operation) -> Iterator[str]:
    name = _symbol(op, "name")
    scope.texts[op.results[0]] = name
    yield f"global {name}"


def _create_dict(scope: _Scope, op: Operation) -> Iterator[str]:
    name = _string(op, "dict_name")
    text = _dictionary(scope, op)
    scope.used.add(name)
    scope.texts[op.results[0]] = name
    yield f"{name} = {text}"


def _assign(scope: _Scope, op: Operation) -> Iterator[str]:
    """``target = value``; in December 2025 a new variable of the value."""
    if op.results:
        yield scope.assigned(op, scope.text(op.operands[0]))
    else:
        yield f"{scope.text(op.operands[0])} = {scope.text(op.operands[1])}"


def _assign_global(scope: _Scope, op: Operation) -> Iterator[str]:
    yield f"{_symbol(op, 'name')} = {scope.text(op.operands[0])}"


def _set_attr(scope: _Scope, op: Operation) -> Iterator[str]:
    yield f"{scope.text(op.operands[0])}.{_string(op, 'attr_name')} = {scope.text(op.operands[1])}"


def _file(scope: _Scope, op: Operation) -> Iterator[str]:  # noqa: ARG001 - one signature
    yield f"# File: {_constant(op, op.properties['id'])}"
    yield from _Scope().statements(op.regions[0])


def _verbatim(scope: _Scope, op: Operation) -> Iterator[str]:
    yield _formatted(scope, op, "value")


def _module(scope: _Scope, op: Operation) -> Iterator[str]:
    assert isinstance(op, ModuleOp)
    files = [each for each in op.body.block.ops if name_of(each) == "emitpy.file"]
    for each in files or op.body.block.ops:
        yield from scope.statement(each)


_STATEMENTS: Mapping[str, Callable[[_Scope, Any], Iterator[str]]] = {
    **dict.fromkeys(_EXPRESSIONS, _assigned),
    "builtin.module": _module,
    "emitpy.assign": _assign,
    "emitpy.assign_global": _assign_global,
    "emitpy.class": _class,
    "emitpy.create_dict": _create_dict,
    "emitpy.expression": _expression,
    "emitpy.file": _file,
    "emitpy.global": _global,
    "emitpy.global_statement": _global_statement,
    "emitpy.if": _if,
    "emitpy.import": _import,
    "emitpy.literal": _literal,
    "emitpy.nested_func": _nested_function,
    "emitpy.nested_func_return": _return,
    "emitpy.set_attr": _set_attr,
    "emitpy.verbatim": _verbatim,
    "func.func": _function,
    "func.return": _return,
}
"""Operations that stand for statements."""


def _string(op: Operation, name: str) -> str:
    found = op.properties.get(name)
    if not isinstance(found, StringAttr):
        raise CompileError(f"`{op.name}` has no text `{name}`", location=location_of(op))
    return found.data


def _symbol(op: Operation, name: str) -> str:
    found = op.properties.get(name)
    if not isinstance(found, SymbolRefAttr):
        raise CompileError(f"`{op.name}` has no symbol `{name}`", location=location_of(op))
    return symbol_of(found)
