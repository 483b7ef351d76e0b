"""The signature of a host function is its declaration: binding, errors and documentation agree with it.

Every call here is derived from the declarations, so that a new function needs no test of these.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from operator import attrgetter
from pathlib import Path

import numpy
import pytest

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CallError
from ttnn_jit.ttnn.calling.host_function import declaration_of
from ttnn_jit.ttnn.calling.host_parameters import kind_of
from ttnn_jit.ttnn.namespace.names_on_demand import declared_functions

FUNCTIONS = {name: declaration_of(attrgetter(name)(ttnn)) for name in declared_functions()}
PARAMETERS = [(name, each) for name, function in FUNCTIONS.items() for each in function.parameters]
OF_ANY = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


class Stranger:
    """A value that no typed parameter accepts."""


def takes_anything(parameter):
    return any(not each.wanted for each in parameter.kind.alternatives)


def id_of(value):
    return value if isinstance(value, str) else value.name


@pytest.fixture(scope="module")
def samples():
    """A value for each type that some function must be given."""
    core = ttnn.MeshCoreCoord(ttnn.MeshCoordinate(0, 0), ttnn.CoreCoord(0, 0))
    memory = ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 4096)
    socket_config = ttnn.SocketConfig([ttnn.SocketConnection(core, core)], memory)
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.zeros((1, 1, 32, 32), device=device)
    mapper = ttnn.ReplicateTensorToMesh(device)
    values = {
        "int": 1, "float": 0.5, "bool": True, "str": "text", "object": None, "Any": None, "Iterable[int]": (1, 1),
        "Iterable[float]": [1.0], "torch.Tensor": None, "Sequence[int]": (1, 1), "Tensor": tensor, "Device": device,
        "Sequence[Tensor]": [tensor], "DataType": ttnn.bfloat16, "Layout": ttnn.TILE_LAYOUT,
        "Sequence[Sequence[int]]": [[0]], "SubDeviceId": ttnn.SubDeviceId(0),
        "MemoryConfig": ttnn.DRAM_MEMORY_CONFIG, "TensorToMesh": mapper, "Callable[..., Any]": print,
        "MeshToTensor": ttnn.ConcatMeshToTensor(device, 0), "ComplexTensor": ttnn.complex_tensor(tensor, tensor),
        "CoreGrid": ttnn.CoreGrid(x=1, y=1), "MeshMapperConfig": ttnn.MeshMapperConfig([ttnn.PlacementReplicate()]),
        "MeshComposerConfig": ttnn.MeshComposerConfig([0]), "MeshTraceId": object.__new__(ttnn.MeshTraceId),
        "CoreRangeSet": ttnn.CoreRangeSet([]), "MeshEvent": object.__new__(ttnn.MeshEvent), "PreHook": print,
        "PostHook": print, "GlobalSemaphore": ttnn.create_global_semaphore(device, ttnn.CoreRangeSet([]), 0),
        "SocketConfig": socket_config, "MeshSocket": ttnn.create_socket_pair(device, device, socket_config)[0],
        "Mapping[int, Device]": {}, "Mapping[str, Any]": {}, "Sequence[UnaryWithParam | UnaryOpType]": [],
        "TensorSpec": tensor.spec, "torch.nn.Module": None, "torch.nn.Conv2d": None, "torch.nn.BatchNorm2d": None,
        "Mapping[Any, Any]": {}, "Sequence[JsonNode]": [], "Convert": print, "Callable[[], torch.nn.Module]": print,
        "Callable[[Any], Any]": print, "None": None,
    }  # fmt: skip
    yield values
    ttnn.close_device(device)


def sound(parameter, samples):
    """A value that its kind takes."""
    enumeration = getattr(ttnn, parameter.annotation, None)
    if hasattr(enumeration, "__members__"):
        return next(iter(enumeration))
    return next(samples[part] for part in [parameter.annotation, *parameter.annotation.split(" | ")] if part in samples)


def others(declared, samples, without):
    """The required arguments beside a parameter, by name."""
    return {each.name: sound(each, samples) for each in declared.parameters if each.is_required and each is not without}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_table_has_the_signatures(name):
    declared, own = FUNCTIONS[name], inspect.signature(attrgetter(name)(ttnn)).parameters.values()
    assert [each.name for each in declared.parameters] == [each.name for each in own]
    for each, written in zip(declared.parameters, own, strict=True):
        assert each.annotation == written.annotation
        assert each.is_required == (written.default is written.empty and written.kind not in OF_ANY)
        assert each.is_required or each.default is written.default or written.kind in OF_ANY
        assert each.is_positional == (written.kind not in {written.KEYWORD_ONLY, written.VAR_KEYWORD})


def test_the_stub_of_the_namespace_has_every_function_from_its_module():
    stub = Path(ttnn.__file__).with_name("namespace").joinpath("lazy_names.pyi").read_text(encoding="utf-8")
    for name, module in declared_functions().items():
        assert "." in name or f"from {module} import {name} as {name}\n" in stub


def nodes_of(function):
    """The syntax of a function's body."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    return [node for each in definition.body for node in ast.walk(each)]


def names_read(function):
    return {node.id for node in nodes_of(function) if isinstance(node, ast.Name)}


def fields_read(function, arguments, seen):
    """The fields of `arguments` that `function` reads of `arguments` or `self`, in callees too."""
    seen.add(function)
    given, read, further = {"arguments", "self"}, set(), []
    for node in nodes_of(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in given:
            read.add(node.attr)
            own = [vars(cls).get(node.attr) for cls in arguments.__mro__]
            further += [getattr(each, "fget", getattr(each, "_compute", each)) for each in own]
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and any(isinstance(each, ast.Name) and each.id in given for each in node.args):
            further.append(function.__globals__.get(called.id))
    for each in further:
        if inspect.isfunction(each) and each not in seen:
            read |= fields_read(each, arguments, seen)
    return read


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exactly_the_parameters_that_a_body_does_not_read_are_declared_without_effect(name):
    declared = FUNCTIONS[name]
    function = inspect.unwrap(declared.function)
    arguments = getattr(function, "__ttnn_arguments__", None)
    read = fields_read(function.__ttnn_body__, arguments, set()) if arguments else names_read(function)
    options = [each for each in inspect.signature(function).parameters.values() if each.name in read]
    read |= {name for each in options for name in declared.items_of(each)} - {*declared.without_effect}
    unread = {each.name for each in declared.parameters if each.name not in read and not each.is_keyword_variadic}
    assert unread == {each.name for each in declared.parameters if each.without_effect and each.name in unread}
    assert unread >= {*declared.without_effect}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_keyword_that_a_function_lacks_is_refused_at_the_call_with_those_it_has(name, samples):
    declared = FUNCTIONS[name]
    if not declared.parameters or any(each.is_keyword_variadic for each in declared.parameters):
        return  # Python itself refuses arguments of a function without parameters
    with pytest.raises(CallError) as refused:
        attrgetter(name)(ttnn)(**others(declared, samples, None), no_such_keyword=1)
    assert "no_such_keyword" in refused.value.message
    assert refused.value.location.file == __file__
    free, _, by_name = refused.value.help.partition("by name only")
    for each in inspect.signature(attrgetter(name)(ttnn)).parameters.values():
        assert f"`{each.name}`" in (by_name if each.kind is each.KEYWORD_ONLY else free)


@pytest.mark.parametrize(("name", "parameter"), [case for case in PARAMETERS if case[1].is_required], ids=id_of)
def test_a_missing_argument_is_named(name, parameter, samples):
    with pytest.raises(CallError, match=rf"'{parameter.name}'"):
        attrgetter(name)(ttnn)(**others(FUNCTIONS[name], samples, parameter))


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=id_of)
def test_a_value_of_another_kind_is_refused_by_the_names_of_parameter_and_function(name, parameter, samples):
    declared, function = FUNCTIONS[name], attrgetter(name)(ttnn)
    if takes_anything(parameter):
        return
    given = others(declared, samples, parameter)
    keyword = "any_other" if parameter.is_keyword_variadic else parameter.name
    wanted = rf"`{keyword}` of {name.rpartition('.')[2]} must be {re.escape(parameter.kind.wanted)}, got a "
    for alias in (keyword, *parameter.aliases):
        with pytest.raises(ArgumentError, match=wanted):
            function(**given, **{alias: Stranger()})
    if parameter.is_positional:
        positional = [each for each in declared.parameters if each.is_positional]
        before = positional[: positional.index(parameter)]
        rest = {key: value for key, value in given.items() if key not in {each.name for each in before}}
        values = [sound(each, samples) if each.is_required else each.default for each in before]
        with pytest.raises(ArgumentError, match=wanted):
            function(*values, Stranger(), **rest)


@pytest.mark.parametrize(("name", "parameter"), [case for case in PARAMETERS if case[1].aliases], ids=id_of)
def test_two_names_of_one_parameter_are_refused_in_one_call(name, parameter, samples):
    given = others(FUNCTIONS[name], samples, None) | {parameter.name: sound(parameter, samples)}
    for alias in parameter.aliases:
        with pytest.raises(ArgumentError, match=rf"got two values for `{parameter.name}`"):
            attrgetter(name)(ttnn)(**given, **{alias: given[parameter.name]})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_on_the_fast_path_are_what_binding_would_produce(name, samples):
    declared = FUNCTIONS[name]
    values = [None, True, 1, 0.5, "text", *samples.values()]
    named = {each.name: each for each in declared.parameters}
    for parameter, classes in declared.classes_without_binding.items():
        kind = named[parameter].kind
        for value in values:
            if classes is None or type(value) in classes:
                assert kind.bind(value, None, "it") is value or type(value) in {tuple, list}


@pytest.mark.parametrize(
    ("annotation", "value", "bound"),
    [
        ("int", numpy.int64(3), 3),
        ("float", numpy.float32(0.5), 0.5),
        ("float", 3, 3),
        ("bool", numpy.bool_(True), True),
        ("Sequence[int]", [numpy.int32(1), 2], (1, 2)),
        ("Sequence[int]", ttnn.Shape((2, 3)), (2, 3)),
        ("int | Sequence[int]", [1, 2], (1, 2)),
        ("int | Sequence[int] | None", None, None),
        ("Sequence[int | str] | None", [1, "a"], (1, "a")),
    ],
)
def test_a_value_is_bound_as_a_python_object(annotation, value, bound):
    found = kind_of(annotation, __name__).bind(value, None, "it")
    assert (found, type(found)) == (bound, type(bound))


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        ("int", True, "it must be a whole number, got True"),
        ("int", 1.0, "it must be a whole number, got 1.0"),
        ("float", "1", "it must be a number, got '1'"),
        ("bool", 1, "it must be True or False, got 1"),
        ("str | None", 1, "it must be a text, got 1"),
        ("Sequence[int]", (1, 2.5), "it must be a whole number, got 2.5"),
        ("int | Sequence[int]", "12", "it must be a whole number or whole numbers in a list or tuple, got '12'"),
        ("Sequence[int]", 1, "it must be whole numbers in a list or tuple, got 1"),
        ("Tensor | None", 1, "it must be a ttnn.Tensor, got 1"),
        ("Layout", "TILE", "it must be a ttnn.Layout, got 'TILE'"),
        ("str | Path", 3, "it must be a text or a Path, got 3"),
    ],
)
def test_a_value_of_no_alternative_is_refused_with_all_of_them(annotation, value, text):
    with pytest.raises(ArgumentError) as refused:
        kind_of(annotation, __name__).bind(value, None, "it")
    assert refused.value.message == text
