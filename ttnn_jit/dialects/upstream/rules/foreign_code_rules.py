"""Operations that hold code of other languages: kernels of tt-lang, expressions, conditions and globals of Python."""

from __future__ import annotations

import keyword
import re
from collections import Counter

from xdsl.dialects.builtin import IndexType, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ttnn_jit.dialects.upstream.rules.view import View, fail, require, symbol_around

_HELD_BY_EXPRESSIONS = {
    "emitpy.call_opaque",
    "emitpy.literal",
    "emitpy.subscript",
    "emitpy.constant",
    "emitpy.get_attr",
}
_STRING = "emitpy.str"
_WITHOUT_EFFECTS = {"emitpy.literal", "emitpy.subscript", "emitpy.constant", "emitpy.get_attr"}


def verify_tt_lang(op: Operation) -> None:
    """A role for each operand, those of results last."""
    view = View(op)
    count, results = len(view.values["inputs"]), len(op.results)
    require(count > 0, "tt-lang kernel must have at least one input operand.")
    roles = [role.strip() for role in _text(view, "arg_roles").split(",")]
    require(roles != [""], "`arg_roles` attribute must not be empty.")
    require(len(roles) == count, f"`arg_roles` token count ({len(roles)}) must match number of inputs ({count}).")
    for role in roles:
        require(role in {"in", "out"}, f'`arg_roles` token must be "in" or "out", got: "{role}".')
    require(
        roles == sorted(roles),
        '`arg_roles` must list all "in" operands before any "out" operand (destination-passing-style ordering).',
    )
    written = roles.count("out")
    require(written == results, f'number of "out" roles ({written}) must match number of results ({results}).')
    require(
        written > 0,
        'tt-lang kernel must have at least one operand tagged "out" (the destination buffer the runtime returns as '
        "the kernel's output).",
    )
    for name in ("kernel_id", "version_tag"):
        require(_text(view, name) != "", f"`{name}` attribute must not be empty.")


def _text(view: View, name: str) -> str:
    found = view.attribute(name)
    return found.data if isinstance(found, StringAttr) else ""


def verify_expression(op: Operation) -> None:
    """A body that yields what one of its operations gives, each of which is used."""
    (body,) = op.regions[0].blocks
    last = body.last_op
    if last is None or last.name != "emitpy.yield" or len(last.operands) != 1:
        fail("must yield a value at termination")
    root = last.operands[0].owner
    if isinstance(root, Block):
        fail("yielded value has no defining op")
    require(root.parent_block() is body, "yielded value not defined within expression")
    require(last.operands[0].type == op.results[0].type, "requires yielded type to match return type")
    for inner in body.ops:
        if inner is not last:
            _verify_part(inner)
    visits = _visits(root)
    require(
        all(count == 1 or part.name in _WITHOUT_EFFECTS for part, count in visits.items()),
        "requires exactly one use for operations with side effects",
    )


def _verify_part(part: Operation) -> None:
    require(part.name in _HELD_BY_EXPRESSIONS, "contains an unsupported operation")
    require(len(part.results) == 1, "requires exactly one result for each operation")
    require(part.results[0].first_use is not None, "contains an unused operation")


def _visits(root: Operation) -> Counter[Operation]:
    """How many operands lead to each operation of the expression."""
    visits, waiting = Counter[Operation](), [root]
    while waiting:
        part = waiting.pop()
        visits[part] += 1
        if visits[part] == 1:
            waiting += [operand.owner for operand in part.operands if isinstance(operand.owner, Operation)]
    return visits


def verify_condition(op: Operation) -> None:
    """A condition with a placeholder for each operand, and blocks that are not empty."""
    view = View(op)
    condition = _text(view, "condition")
    require(condition != "", "condition string must not be empty")
    then, *otherwise = op.regions
    require(not _is_empty(then.blocks[0]), "then block must contain at least one operation")
    for region in otherwise:
        require(len(region.blocks) <= 1, "else region must have exactly one block")
        blocks = [*region.blocks]
        require(not blocks or not _is_empty(blocks[0]), "else block must contain at least one operation if present")
    parts = re.sub(r"\{\{|\}\}", "", condition)
    placeholders = parts.count("{}")
    require("{" not in parts.replace("{}", ""), "expected '}' after unescaped '{'")
    require(
        placeholders == len(view.values["cond_args"]),
        "requires operands for each placeholder in the condition string",
    )


def verify_global(op: Operation) -> None:
    """The name of a global of a module around the operation."""
    symbol = op.properties["name"]
    assert isinstance(symbol, SymbolRefAttr)
    name = symbol.root_reference.data
    found = symbol_around(op, name)
    require(found is not None and found.name == "emitpy.global", f"'{name}' does not reference a valid emitpy.global")


def verify_dictionary(op: Operation) -> None:
    """A name of Python, and a literal or keys and values by turns."""
    view = View(op)
    _require_name(_text(view, "dict_name"))
    literal = view.attribute("literal_expr")
    if isinstance(literal, StringAttr):
        require(literal.data != "", "literal_expr must not be empty")
        require(
            not op.operands,
            "cannot have both literal_expr and items operands; use either literal_expr for Python dict literals or "
            "items for key-value pairs",
        )
        return
    require(
        bool(op.operands),
        'cannot have both literal_expr and items empty; for an empty dict, use literal_expr = "{}" instead',
    )
    require(len(op.operands) % 2 == 0, "items must be alternating key-value pairs (even count required)")
    for position in range(0, len(op.operands), 2):
        key = op.operands[position].type
        require(
            isinstance(key, IndexType) or key.name == _STRING,
            f"dictionary keys must be index or string type, but got '{key}' at position {position}",
        )


def verify_pairs(op: Operation) -> None:
    """A dictionary's key, and what it holds."""
    gives = op.name.endswith("get_key_value")
    count = len(op.results) if gives else len(op.operands) - 1
    require(count > 0, f"requires at least one {'result' if gives else 'value'}")


_METHODS = ("instance", "staticmethod", "classmethod")


def verify_class(op: Operation) -> None:
    """Methods, one of which may be the initializer."""
    functions = [each for block in op.regions[0].blocks for each in block.ops if isinstance(each, FuncOp)]
    count = sum(each.sym_name.data == "__init__" for each in functions)
    require(count <= 1, "class body must have at most one __init__")


def verify_method(op: Operation) -> None:
    """A function in a class: what it is called on, and what an initializer returns."""
    around = op.parent_op()
    if not isinstance(op, FuncOp) or around is None or around.name != "emitpy.class":
        return
    given = op.attributes.get("emitpy.method_kind")
    kind = given.data if isinstance(given, StringAttr) else _METHODS[0]
    require(kind in _METHODS, "emitpy.method_kind must be one of 'instance', 'staticmethod', or 'classmethod'")
    if op.sym_name.data == "__init__":
        require(not op.function_type.outputs.data, "__init__ must not return a value")
        require(kind == "instance", "__init__ must be an instance method")
    if kind == "staticmethod":
        return
    inputs = op.function_type.inputs.data
    require(bool(inputs), "instance and class methods must take a receiver argument")
    receiver = "cls" if kind == "classmethod" else "self"
    named = op.arg_attrs.data[0].data.get("emitpy.name") if op.arg_attrs else None
    require(
        not isinstance(named, StringAttr) or named.data == receiver,
        f"first argument must be named '{receiver}' via emitpy.name",
    )
    if kind == "instance":
        name = _text(View(around), "sym_name")
        require(inputs[0].name == "emitpy.class", "self argument must have !emitpy.class type")
        require(str(inputs[0]) == f'!emitpy.class<"{name}">', f"self type must match class name '{name}'")


def _require_name(name: str) -> None:
    """A name that Python takes for a variable."""
    require(name != "", "variable name must not be empty")
    require(re.match(r"[A-Za-z_]", name) is not None, "variable name must start with a letter or '_'")
    require(re.fullmatch(r"\w*", name) is not None, "variable name may only contain alphanumeric characters and '_'")
    require(not keyword.iskeyword(name), "variable name must not be a keyword")


def verify_subscript(op: Operation) -> None:
    """Texts are keys of dictionaries alone."""
    container, index = (each.type for each in op.operands)
    require(
        index.name != _STRING or container.name == "emitpy.dict",
        f"cannot use string index on non-dict type '{container}'",
    )


def verify_assignment(op: Operation) -> None:
    """Two values of one type."""
    if len(op.operands) == 2:
        target, value = (each.type for each in op.operands)
        require(target == value, f"target type ('{target}') does not match value type ('{value}')")


def _is_empty(block: Block) -> bool:
    return block.first_op is None


FOREIGN_CODE = {
    "ttir.tt_lang_op": (verify_tt_lang,),
    "ttnn.tt_lang_op": (verify_tt_lang,),
    "ttcore.set_key_value": (verify_pairs,),
    "ttcore.get_key_value": (verify_pairs,),
    "emitpy.class": (verify_class,),
    "func.func": (verify_method,),
    "emitpy.expression": (verify_expression,),
    "emitpy.if": (verify_condition,),
    "emitpy.create_dict": (verify_dictionary,),
    "emitpy.subscript": (verify_subscript,),
    "emitpy.assign": (verify_assignment,),
    **dict.fromkeys(("emitpy.get_global", "emitpy.assign_global", "emitpy.global_statement"), (verify_global,)),
}
