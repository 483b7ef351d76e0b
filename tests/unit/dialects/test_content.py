"""The content of a module equals its text without locations, at less cost than printing."""

from hypothesis import given

from tests.expressions import evaluate, expressions
from ttnn_jit import ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.request import FunctionRequest
from ttnn_jit.dialects import parse_module, print_module, verify
from ttnn_jit.dialects.text import printer
from ttnn_jit.dialects.text.content import content_of
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

SPEC = TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)


CPU = PRESETS["cpu"]


def lowered(function, *, graph_capture=None):
    code = function.__code__
    arguments = {name: TensorArgument(SPEC) for name in code.co_varnames[: code.co_argcount]}
    return lower(FrontendRequest(function, arguments, CPU, graph_capture)).module


def of_expression(expression):
    def program(a, b, c, d):
        return evaluate(expression, (a, b, c, d))

    return lowered(program, graph_capture=True)


@given(expressions(), expressions())
def test_contents_are_equal_exactly_where_texts_are(first, second):
    one, other = of_expression(first), of_expression(second)
    assert (content_of(one) == content_of(other)) == (print_module(one) == print_module(other))


@given(expressions())
def test_a_frontend_produces_a_valid_module(expression):
    verify(of_expression(expression))


@given(expressions())
def test_a_module_parsed_back_has_the_content_that_was_printed(expression):
    module = of_expression(expression)
    assert content_of(parse_module(print_module(module))) == content_of(module)


def test_locations_are_no_content():
    def one(x):
        return ttnn.exp(x)

    def other(x):
        y = x

        return ttnn.exp(y)

    other.__name__ = one.__name__
    assert print_module(lowered(one), locations=True) != print_module(lowered(other), locations=True)
    assert content_of(lowered(one)) == content_of(lowered(other))


def test_the_bits_of_constants_are_content():
    def zero(x):
        return ttnn.add(x, 0.0)

    def negative_zero(x):
        return ttnn.add(x, -0.0)

    negative_zero.__name__ = zero.__name__
    assert content_of(lowered(zero)) != content_of(lowered(negative_zero))


def test_a_compile_that_nobody_inspects_prints_no_module(monkeypatch):
    def cube(x):
        return ttnn.multiply(ttnn.multiply(x, x), x)

    def printed(*_):
        raise AssertionError("a module was printed")

    # The method itself, because modules that this compile loads may not have kept it under another name.
    monkeypatch.setattr(printer.MLIRPrinter, "print_op", printed)
    request = FunctionRequest(cube, {"x": SPEC}, CPU, CompileOptions())
    assert driver.compile_program(request, use_disk=False).program.name == "cube"
