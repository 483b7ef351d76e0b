"""Operations in a caller's tools: signatures, help, stubs, and their names in torch."""

from __future__ import annotations

import ast
import inspect
import pydoc
from operator import attrgetter
from pathlib import Path

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.ops import ELEMENTWISE, OVERLOADS
from ttnn_jit.ops.language.parameter import TENSOR_PER_CHANNEL
from ttnn_jit.ops.result_options import HARDWARE_KEYWORDS, RESULT_KEYWORDS
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.tools.stubs import stubs
from ttnn_jit.ttnn.calling import eager_functions
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

PACKAGE = Path(ttnn_jit.__file__).parent
EVERY = pytest.mark.parametrize("operation", ELEMENTWISE, ids=lambda operation: operation.ttnn_name)


@EVERY
def test_a_signature_accepts_every_call_that_the_declaration_accepts(operation):
    signature = inspect.signature(attrgetter(operation.name)(ttnn))
    tensors = [object()] * operation.arity
    signature.bind(*tensors, *operation.tested_attributes, **operation.fixed_keywords)
    signature.bind(**dict.fromkeys(operation.parameter_names), **operation.fixed_keywords)
    needed = dict.fromkeys(attribute.name for attribute in operation.attributes if attribute.is_required)
    signature.bind(*tensors, **needed, **dict.fromkeys((*RESULT_KEYWORDS, *HARDWARE_KEYWORDS)))
    required = [operand for operand in operation.operands if operand.is_required]
    signature.bind(*tensors[: len(required)], **needed)
    with pytest.raises(TypeError):
        signature.bind(*tensors[: len(required) - 1], **needed)
    with pytest.raises(TypeError):
        signature.bind(*tensors, **needed, surprise=1)


@pytest.mark.parametrize("name", OVERLOADS)
def test_a_signature_has_types_and_defaults(name):
    signature = inspect.signature(attrgetter(name)(ttnn))
    first = OVERLOADS[name][0]
    given = first.packed(("Tensor",) * first.result_count) if first.result_count > 1 or first.gives_one_tensor else None
    several = ("tuple[Tensor, ...]", "list[Tensor]")[isinstance(first.packed(()), list)] if given is None else given
    assert signature.return_annotation == (f"tuple[{', '.join(several)}]" if isinstance(several, tuple) else several)
    for parameter in OVERLOADS[name][0].parameters:
        found = signature.parameters[parameter.name]
        assert set(parameter.annotation.split(" | ")) <= set(found.annotation.split(" | "))
        is_required = parameter.is_required and all(parameter.name in each.parameter_names for each in OVERLOADS[name])
        assert (found.default is inspect.Parameter.empty) == is_required
        if not parameter.is_required:
            assert found.default is parameter.default
    for each in OVERLOADS[name]:
        signature.bind(**{parameter.name: None for parameter in each.parameters if parameter.is_required})


def test_parameters_of_declarations_that_share_a_name_are_of_every_type():
    parameters = inspect.signature(ttnn.divide).parameters
    assert parameters["rounding_mode"].annotation == "Literal['floor'] | Literal['trunc'] | None"
    assert inspect.signature(ttnn.clamp).parameters["min"].annotation == "float | Tensor"


def test_the_class_of_operations_has_a_signature_of_its_own():
    assert list(inspect.signature(type(ttnn.exp)).parameters) == ["name", "overloads"]


@EVERY
def test_help_shows_the_call_and_what_it_computes(operation):
    text = pydoc.plain(pydoc.render_doc(attrgetter(operation.name)(ttnn)))
    assert f"ttnn.{operation.signature}" in text
    assert operation.summary.split(";")[0].split(". ")[0] in text
    assert "memory_config" in text
    assert "CompileError: " in text


@pytest.mark.parametrize("path", stubs(), ids=lambda path: path.name)
def test_a_stub_is_generated_from_the_declarations(path):
    assert path.read_text(encoding="utf-8") == stubs()[path], "run `make docs`"
    ast.parse(path.read_text(encoding="utf-8"))


def test_the_stub_names_what_the_namespace_has():
    module = ast.parse((PACKAGE / "ttnn" / "calling" / "eager_functions.pyi").read_text(encoding="utf-8"))
    annotated = {node.target.id for node in module.body if isinstance(node, ast.AnnAssign)}
    assert annotated == set(eager_functions.__all__)
    assert all(isinstance(getattr(ttnn, name), TtnnOperation) for name in annotated)


@EVERY
def test_torch_has_the_declared_operation(operation):
    row = next(row for row in ttnn_jit.supported_ops() if row["call"] == f"ttnn.{operation.signature}")
    assert row["aten"] == operation.aten
    if not operation.aten:
        return
    function = getattr(torch.ops.aten, operation.aten)
    if operation.attributes:
        return
    torch.manual_seed(0)
    low, high = operation.probe.domain
    x = torch.empty(64, operation.arity, dtype=torch.float64).uniform_(low, high).T.contiguous()
    if DataType.FLOAT32 not in operation.dtypes:
        x = x.to(torch.int32)
    operands = [x[0] > 0, *x[1:]] if operation.aten == "where" else list(x)
    if operation.operands[-1].kind is TENSOR_PER_CHANNEL:
        operands[-1] = operands[-1][:1]
    got = function(*operands, **{name: value for name, value in operation.fixed_keywords.items() if value is not None})
    torch.testing.assert_close(got.double(), operation.golden(torch, *operands).double(), equal_nan=True)


def test_an_operation_that_torch_lacks_declares_it():
    assert {o.name for o in ELEMENTWISE if not o.aten} >= {"cbrt", "mac", "rdiv", "rpow", "softsign"}
