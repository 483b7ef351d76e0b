from __future__ import annotations

import ast
import importlib.util
import linecache
import logging
import types

import pytest

from tests.unit.frontend.stand_in import BF16, lowered, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.reads.function_source import SourceError, function_source

ADD_ONE, ADD_TWO = (lambda x: x + 1), (lambda x: x + 2)  # two on one line
NESTED = lambda n: lambda x: x + n  # noqa: E731


def decorate(*_arguments):
    return lambda function: function


@decorate(
    "over",
    "several lines",
)
@decorate()
def decorated(x):
    return x


class Model:
    def __init__(self):
        self.__scale = 2.0

    def forward(self, x):
        return x * self.__scale

    @staticmethod
    def plain(x):
        return x


def text_of(function):
    return ast.unparse(function_source(function).node)


def module_from(path, text, name="written_module"):
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_two_lambdas_on_a_line_are_distinguished():
    assert text_of(ADD_ONE) == "lambda x: x + 1"
    assert text_of(ADD_TWO) == "lambda x: x + 2"


def test_equal_lambdas_on_a_line_are_distinguished_by_their_columns():
    first, second = (lambda x: x + 1), (lambda x: x + 1)
    assert function_source(first).node.col_offset < function_source(second).node.col_offset


def test_nested_lambdas_are_distinguished():
    assert text_of(NESTED) == "lambda n: lambda x: x + n"
    assert text_of(NESTED(1)) == "lambda x: x + n"


def test_a_decorated_function_is_found_below_its_decorators():
    assert function_source(decorated).node.name == "decorated"


def test_a_method_is_found_with_its_private_names():
    assert function_source(Model.forward).node.name == "forward"
    assert function_source(Model.plain).node.name == "plain"


def test_a_closure_is_found_inside_its_function():
    def outer(n):
        def inner(x):
            return x + n

        return inner

    assert function_source(outer(3)).node.name == "inner"


def test_lines_and_columns_are_those_of_the_file():
    node = function_source(decorated).node
    assert linecache.getline(__file__, node.lineno).startswith("def decorated")


def test_a_file_edited_after_its_import_is_refused(tmp_path):
    module = module_from(tmp_path / "edited.py", "def f(x):\n    return x + 1\n")
    (tmp_path / "edited.py").write_text("def f(x):\n    return x + 20\n", encoding="utf-8")
    linecache.checkcache()
    with pytest.raises(SourceError, match="is not what the function was compiled from"):
        function_source(module.f)


def test_source_read_before_the_edit_is_still_used(tmp_path):
    path = tmp_path / "early.py"
    module = module_from(path, "def f(x):\n    return x + 1\n")
    linecache.getlines(str(path))
    path.write_text("def f(x):\n    return x + 20\n", encoding="utf-8")
    assert text_of(module.f).endswith("return x + 1")


def test_a_function_that_only_moved_is_found(tmp_path):
    path = tmp_path / "moved.py"
    module = module_from(path, "def f(x):\n    return x + 1\n")
    path.write_text("# a line more\n\ndef f(x):\n    return x + 1\n", encoding="utf-8")
    linecache.checkcache()
    assert function_source(module.f).node.lineno == 3


def test_one_and_true_in_the_source_are_distinguished(tmp_path):
    module = module_from(tmp_path / "typed.py", "def f(x):\n    return x + 1\n")
    (tmp_path / "typed.py").write_text("def f(x):\n    return x + 1.0\n", encoding="utf-8")
    linecache.checkcache()
    with pytest.raises(SourceError):
        function_source(module.f)


def test_a_future_import_is_part_of_how_a_file_compiles(tmp_path):
    text = (
        "from __future__ import annotations\n\ndef f(x: 'int | None' = None) -> 1 + 1:\n    y: int = x\n    return y\n"
    )
    assert function_source(module_from(tmp_path / "future.py", text).f).node.name == "f"


def test_unindented_text_inside_a_string_is_kept(tmp_path):
    text = 'def f(x):\n    s = """\nx = 1\n@no\n"""\n    return x + len(s)\n\ndef g(x):\n    return x\n'
    module = module_from(tmp_path / "margin.py", text)
    assert function_source(module.f).node.name == "f"
    assert function_source(module.g).node.name == "g"


def without_source():
    namespace = {"ttnn": ttnn}
    exec("def f(x):\n    return ttnn.exp(x)\n", namespace)
    return namespace["f"]


def test_a_function_without_source_is_refused_with_the_reason():
    with pytest.raises(CompileError, match="there is no text for <string>"):
        lowered(without_source(), BF16, graph_capture=False)


@pytest.fixture
def traced(logged):
    """Whether a function of one tensor is traced if that is allowed but not requested; the log tells the user."""
    ours = logging.getLogger("ttnn_jit")

    def is_traced(function):
        logged.flush()
        lowered(function, BF16, graph_capture=None)
        return [record.getMessage().partition(":")[0] for record in logged.buffer] == ["`f` is traced"]

    before = ours.level
    ours.setLevel(logging.DEBUG)
    yield is_traced
    ours.setLevel(before)


def test_a_function_without_source_is_traced_if_that_is_allowed(traced):
    assert traced(without_source())


def test_a_function_with_source_is_not_traced(traced):
    assert not traced(decorated)


def test_a_notebook_cell_is_read_from_linecache(traced):
    text = "def f(x):\n    return ttnn.exp(x) * 2\n"
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"ttnn": ttnn}
    exec(compile(text, name, "exec"), namespace)
    assert not traced(namespace["f"])


def test_a_helper_without_source_leads_to_tracing_too(traced):
    helper = without_source()

    def f(x):
        return helper(x)

    assert traced(f)
    with pytest.raises(SourceError):
        lowered(f, BF16, graph_capture=False)


def test_source_of_a_compiled_code_object_is_remembered():
    assert function_source(decorated) is function_source(types.FunctionType(decorated.__code__, {}))
