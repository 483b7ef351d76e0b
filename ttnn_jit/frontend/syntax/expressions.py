"""The evaluation of each kind of expression in the interpreter."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ttnn_jit.frontend.calls.call_expressions import InterpretedFunction, evaluate_call, evaluate_items
from ttnn_jit.frontend.python.assignment import assign, iterate
from ttnn_jit.frontend.python.attributes import evaluate_attribute
from ttnn_jit.frontend.python.frame import Frame, names_in_target
from ttnn_jit.frontend.python.interpreter import Interpreter

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY_OPERATORS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def _name(interpreter: Interpreter, node: ast.Name) -> Any:
    value, path = interpreter.lookup(node)
    if interpreter.frame.owner_of(node.id) is None:
        interpreter.recorder.use(value, path)
        value = interpreter.opened(value, path)
    return value


def _constant(_interpreter: Interpreter, node: ast.Constant) -> Any:
    return node.value


def _binary_operation(interpreter: Interpreter, node: ast.BinOp) -> Any:
    # A chain of operators nests to the left: a loop evaluates it without recursion.
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    value = interpreter.evaluate(spine[-1].left)
    for part in reversed(spine):
        right = interpreter.evaluate(part.right)
        interpreter.at = part
        value = interpreter.python(OPERATORS[type(part.op)], value, right)
    return value


def _unary_operation(interpreter: Interpreter, node: ast.UnaryOp) -> Any:
    value = interpreter.evaluate(node.operand)
    interpreter.at = node
    return interpreter.python(_UNARY_OPERATORS[type(node.op)], value)


def _comparison(interpreter: Interpreter, node: ast.Compare) -> Any:
    value: Any = None
    left = interpreter.evaluate(node.left)
    last = len(node.ops) - 1
    for index, (comparison, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = interpreter.evaluate(right_node)
        interpreter.at = node
        value = _compared(interpreter, comparison, left, right)
        if index < last and not interpreter.truth(node, value):
            break
        left = right
    return value


def _compared(interpreter: Interpreter, comparison: ast.cmpop, left: Any, right: Any) -> Any:
    if isinstance(comparison, (ast.In, ast.NotIn)):
        found = interpreter.python(operator.contains, right, left)
        return found if isinstance(comparison, ast.In) else interpreter.python(operator.not_, found)
    return interpreter.python(_COMPARISONS[type(comparison)], left, right)


def _boolean_operation(interpreter: Interpreter, node: ast.BoolOp) -> Any:
    stops_at = isinstance(node.op, ast.Or)
    for part in node.values[:-1]:
        value = interpreter.evaluate(part)
        if interpreter.truth(part, value) is stops_at:
            return value
    return interpreter.evaluate(node.values[-1])


def _conditional(interpreter: Interpreter, node: ast.IfExp) -> Any:
    chosen = interpreter.truth(node.test, interpreter.evaluate(node.test))
    return interpreter.evaluate(node.body if chosen else node.orelse)


def _subscript(interpreter: Interpreter, node: ast.Subscript) -> Any:
    container = interpreter.evaluate(node.value)
    index = interpreter.evaluate(node.slice)
    interpreter.at = node
    return interpreter.python(operator.getitem, container, index)


def _slice(interpreter: Interpreter, node: ast.Slice) -> slice:
    parts = (node.lower, node.upper, node.step)
    return slice(*(None if part is None else interpreter.evaluate(part) for part in parts))


def _tuple(interpreter: Interpreter, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(evaluate_items(interpreter, node.elts))


def _list(interpreter: Interpreter, node: ast.List) -> list[Any]:
    return evaluate_items(interpreter, node.elts)


def _set(interpreter: Interpreter, node: ast.Set) -> Any:
    return interpreter.python(set, evaluate_items(interpreter, node.elts))


def _dict(interpreter: Interpreter, node: ast.Dict) -> dict[Any, Any]:
    items: dict[Any, Any] = {}
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        if key_node is None:
            value = interpreter.evaluate(value_node)
            interpreter.at = value_node
            interpreter.python(items.update, value)
        else:
            key = interpreter.evaluate(key_node)
            value = interpreter.evaluate(value_node)
            interpreter.at = key_node
            interpreter.python(items.__setitem__, key, value)
    return items


def _formatted_string(interpreter: Interpreter, node: ast.JoinedStr) -> str:
    return "".join(str(interpreter.evaluate(part)) for part in node.values)


def _formatted_value(interpreter: Interpreter, node: ast.FormattedValue) -> str:
    value = interpreter.evaluate(node.value)
    specification = interpreter.evaluate(node.format_spec) if node.format_spec else ""
    interpreter.at = node
    conversions: dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}
    convert = conversions.get(node.conversion)
    if convert is not None:
        value = interpreter.python(convert, value)
    return str(interpreter.python(format, value, specification))


def _named(interpreter: Interpreter, node: ast.NamedExpr) -> Any:
    value = interpreter.evaluate(node.value)
    scope = interpreter.frame
    while scope.comprehension and scope.outer is not None:
        scope = scope.outer
    scope.bind(node.target.id, value)
    return value


def _lambda(interpreter: Interpreter, node: ast.Lambda) -> InterpretedFunction:
    return InterpretedFunction.define(interpreter, node, "<lambda>")


# --- Comprehensions -------------------------------------------------------------------------------------------------


def _comprehension(collect: Callable[[Iterator[Any]], Any]) -> Callable[[Interpreter, Any], Any]:
    def evaluate(interpreter: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        items = _generate(interpreter, node.generators, node.elt)
        interpreter.at = node
        return interpreter.python(collect, items)

    return evaluate


def _dict_comprehension(interpreter: Interpreter, node: ast.DictComp) -> Any:
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
    items = _generate(interpreter, node.generators, pair)
    interpreter.at = node
    return interpreter.python(dict, items)


def _generate(interpreter: Interpreter, generators: list[ast.comprehension], element: ast.expr) -> Iterator[Any]:
    """A generator of the elements; as in Python, the first iterable is evaluated now."""
    if any(generator.is_async for generator in generators):
        interpreter.refuse("an asynchronous comprehension cannot be compiled")
    frame = interpreter.frame
    names = frozenset[str]().union(*(names_in_target(generator.target) for generator in generators))
    scope = Frame(
        frame.name, frame.source, frame.function, frame.path, names, {}, frame, frame.called_from, comprehension=True
    )
    first = interpreter.evaluate(generators[0].iter)
    interpreter.at = generators[0].iter
    return _elements(interpreter, scope, generators, element, interpreter.python(iter, first))


def _elements(
    interpreter: Interpreter, scope: Frame, generators: list[ast.comprehension], element: ast.expr, items: Iterator[Any]
) -> Iterator[Any]:
    consumer = interpreter.frame, interpreter.at
    interpreter.frame = scope
    for _ in _iterations(interpreter, generators, items):
        value = interpreter.evaluate(element)
        interpreter.frame, interpreter.at = consumer
        yield value
        consumer = interpreter.frame, interpreter.at
        interpreter.frame = scope
    interpreter.frame, interpreter.at = consumer


def _iterations(
    interpreter: Interpreter, generators: list[ast.comprehension], items: Iterator[Any] | None
) -> Iterator[None]:
    """One iteration for each element, with the targets assigned."""
    generator, *inner = generators
    if items is None:
        iterable = interpreter.evaluate(generator.iter)
        interpreter.at = generator.iter
        items = interpreter.python(iter, iterable)
    for item in iterate(interpreter, generator.iter, items):
        assign(interpreter, generator.target, item)
        if all(interpreter.truth(test, interpreter.evaluate(test)) for test in generator.ifs):
            if inner:
                yield from _iterations(interpreter, inner, None)
            else:
                yield


_OUTSIDE: dict[type[ast.AST], str] = {
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
    ast.Starred: "a starred expression",
}

EXPRESSIONS: dict[type[ast.AST], Callable[[Interpreter, Any], Any]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: evaluate_attribute,
    ast.Call: evaluate_call,
    ast.BinOp: _binary_operation,
    ast.UnaryOp: _unary_operation,
    ast.Compare: _comparison,
    ast.BoolOp: _boolean_operation,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _formatted_string,
    ast.FormattedValue: _formatted_value,
    ast.NamedExpr: _named,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension(list),
    ast.SetComp: _comprehension(set),
    ast.GeneratorExp: _comprehension(iter),
    ast.DictComp: _dict_comprehension,
}


def refuse_expression(interpreter: Interpreter, node: ast.AST) -> NoReturn:
    """Refuse an expression that is outside the language."""
    what = _OUTSIDE.get(type(node), f"this expression ({type(node).__name__})")
    interpreter.refuse(f"{what} cannot be compiled", node=node)
