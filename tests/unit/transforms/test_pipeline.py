import dataclasses
from dataclasses import dataclass
from typing import ClassVar
from unittest import mock

import pytest
import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass

from tests.unit.transforms.ttnn_modules import Graph, cosh, kernels, lowered, tiled
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, PassError
from ttnn_jit.dialects import parse_module, print_module, ttir, ttnn
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import MathFidelity
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.passes.d2m_generic_fusion import D2MGenericFusion
from ttnn_jit.transforms.passes.ttcore_register_device import TTCoreRegisterDevice


@dataclass(frozen=True)
class MarkModule(ModulePass):
    name = "mark-module"
    seen: ClassVar[list[str]] = []

    label: str = "plain"

    def apply(self, ctx, op):  # noqa: ARG002 - xDSL's signature
        self.seen.append(print_module(op))
        op.attributes["test.mark"] = StringAttr(self.label)


@dataclass(frozen=True)
class Fails(ModulePass):
    name = "fails"

    def apply(self, ctx, op):  # noqa: ARG002 - xDSL's signature
        raise ZeroDivisionError("nothing divides")


@dataclass(frozen=True)
class BreaksTheModule(ModulePass):
    name = "breaks-the-module"

    def apply(self, ctx, op):  # noqa: ARG002 - xDSL's signature
        for generic in kernels(op):
            del generic.properties["indexing_maps"]


@dataclass(frozen=True)
class MoveIntoAFunction(ModulePass):
    name = "move-into-a-function"

    def apply(self, ctx, op):  # noqa: ARG002 - xDSL's signature
        function = op.body.block.first_op
        body = function.body.block
        caller = Block(arg_types=body.arg_types)
        call = CallOp("moved", caller.args, function.function_type.outputs.data)
        caller.add_ops([call, ReturnOp(*call.results)])
        moved = FuncOp("moved", function.function_type, function.detach_region(function.body), "private")
        function.add_region(Region(caller))
        op.body.block.add_op(moved)


@pytest.fixture(autouse=True)
def own_passes():
    MarkModule.seen.clear()
    pipeline.register_pass(MoveIntoAFunction, after=pipeline.FRONTEND)
    for cls, stage in ((MarkModule, "d2m-generic-fusion"), (Fails, "cse"), (BreaksTheModule, "convert-ttir-to-d2m")):
        pipeline.register_pass(cls, after=stage)


def _stages(module, options=None, **bounds):
    seen = []
    pipeline.run(module, options or CompileOptions(), observer=lambda name, _: seen.append(name), **bounds)
    return seen


def test_the_stages_of_the_design_run_in_its_order():
    design = (
        "convert-ttnn-to-ttir",
        "ttir-decompose-composites",
        "canonicalize",
        "cse",
        "convert-ttir-to-d2m",
        "d2m-scalarize-const-tensors",
        "d2m-generic-fusion",
        "d2m-generic-tile-compute-loops",
        "d2m-op-scheduler",
        "d2m-insert-dst-register-access",
        "convert-d2m-to-ttnn",
    )
    assert tuple(stage for stage in pipeline.STAGES if stage in design) == design
    assert _stages(cosh(tiled(32, 32))) == list(pipeline.STAGES)


def test_a_compile_can_stop_and_resume_from_text_at_every_stage():
    whole = cosh(tiled(32, 32))
    pipeline.run(whole, CompileOptions())
    for stage in ("frontend", *pipeline.STAGES):
        first = cosh(tiled(32, 32))
        pipeline.run(first, CompileOptions(), until=stage)
        resumed = parse_module(print_module(first))
        pipeline.run(resumed, CompileOptions(), start_after=stage)
        assert print_module(resumed) == print_module(whole)


def test_every_op_of_every_stage_has_a_location():
    def located(stage, module):
        assert not [op.name for op in module.walk() if op is not module and location_of(op) is None], stage

    pipeline.run(cosh(tiled(32, 32)), CompileOptions(), observer=located)


def test_a_users_pass_runs_after_its_default_stage():
    options = CompileOptions(extra_pipeline_options="mark-module")
    stages = _stages(cosh(tiled(32, 32)), options)
    assert stages[stages.index("mark-module") - 1] == "d2m-generic-fusion"
    assert MarkModule.seen[0].count("d2m.generic {") == 1


def test_a_users_pass_runs_where_the_options_say_with_its_own_options():
    text = 'after-frontend{mark-module{label="early"}}, after-cse{mark-module{label="late"},mark-module}'
    module = cosh(tiled(32, 32))
    stages = _stages(module, CompileOptions(extra_pipeline_options=text))
    assert stages[0] == "mark-module"
    assert [at for at, name in enumerate(stages) if name == "mark-module"] == [0, 5, 6]
    assert module.attributes["test.mark"] == StringAttr("plain")
    assert "ttnn.exp" in MarkModule.seen[0]
    assert 'test.mark = "early"' in MarkModule.seen[1]


def test_a_registered_pass_does_not_run_by_default():
    assert "mark-module" not in _stages(cosh(tiled(32, 32)))


def test_a_users_pass_may_not_take_a_stages_name():
    with pytest.raises(ArgumentError, match="is a stage of the pipeline"):
        pipeline.register_pass(D2MGenericFusion, after="cse")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("after-cze{mark-module}", "unknown stage `cze`"),
        ("mark-modul", "unknown pass `mark-modul`"),
        ("qqq", "help: `ttnn-jit opt --list` names them"),
        ("mark-module{lable=1}", "lable"),
        ("mark-module{", "no pipeline"),
    ],
)
def test_an_error_about_a_pipeline_option_names_the_nearest_one(text, message):
    with pytest.raises(ArgumentError) as error:
        _stages(cosh(tiled(32, 32)), CompileOptions(extra_pipeline_options=text))
    assert message in str(error.value)


def test_a_failing_pass_is_named_with_the_users_line():
    with pytest.raises(PassError) as error:
        _stages(cosh(tiled(32, 32)), CompileOptions(extra_pipeline_options="fails"))
    assert "Failed to run pass manager: `fails`: ZeroDivisionError: nothing divides" in str(error.value)
    assert str(error.value).startswith("model.py:1")
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_a_value_of_an_option_that_requires_quotes_is_refused_with_the_quotes():
    with pytest.raises(ArgumentError) as error:
        pipeline.parse_passes("mark-module{label=a.b}")
    assert "double quotes" in error.value.help
    assert pipeline.parse_passes('mark-module{label="a.b"}')[0].label == "a.b"


def test_a_failure_in_a_text_points_into_the_module_and_not_at_it():
    text = (
        "module {\n  func.func @f(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {\n    return %a : tensor<4x8xf32>\n  }\n}\n"
    )
    with pytest.raises(PassError) as error:
        pipeline.run_passes(parse_module(text, "mine.mlir"), pipeline.parse_passes("fails"))
    assert str(error.value).startswith("mine.mlir:2:")


def test_an_invalid_module_is_reported_after_the_pass_that_produced_it():
    options = CompileOptions(extra_pipeline_options="breaks-the-module")
    with pytest.raises(PassError, match="Failed to run pass manager: `breaks-the-module`"):
        _stages(cosh(tiled(32, 32)), options, verify_each=True)


def test_a_failure_leaves_a_reproducer_on_request(tmp_path):
    folder = tmp_path / "reproducer"
    with pytest.raises(PassError):
        _stages(cosh(tiled(32, 32)), CompileOptions(extra_pipeline_options="fails"), reproducers=folder)
    before = (folder / "before.mlir").read_text(encoding="utf-8")
    assert '"ttir.exp"' in before
    assert "-p 'fails'" in (folder / "command.txt").read_text(encoding="utf-8")
    parse_module(before)


def test_a_reproducer_holds_the_module_before_the_failing_pass_and_is_printed_once(tmp_path, monkeypatch):
    before, options = [], CompileOptions(extra_pipeline_options="after-d2m-generic-fusion{fails}")
    printed = mock.Mock(wraps=pipeline.print_module)
    monkeypatch.setattr(pipeline, "print_module", printed)
    with pytest.raises(PassError):
        pipeline.run(
            cosh(tiled(32, 32)),
            options,
            observer=lambda _, module: before.append(print_module(module)),
            reproducers=tmp_path,
        )
    assert "d2m.generic" in before[-1]
    assert (tmp_path / "before.mlir").read_text(encoding="utf-8") == before[-1]
    assert printed.call_count == 1


@dataclass(frozen=True)
class FailsLater(ModulePass):
    """Fails if it runs a second time."""

    name = "fails-later"
    runs: ClassVar[int] = 0

    def apply(self, ctx, op):  # noqa: ARG002 - xDSL's signature
        FailsLater.runs += 1
        if FailsLater.runs > 1:
            raise ValueError("once too often")


def test_passes_that_do_not_repeat_themselves_are_all_in_the_command_of_a_reproducer(tmp_path):
    (fails,) = pipeline.parse_passes("fails")
    module = cosh(tiled(32, 32))
    text = print_module(module)
    with pytest.raises(PassError, match="nothing divides"):
        pipeline.run_passes(module, [FailsLater(), fails], reproducers=tmp_path)
    assert (tmp_path / "before.mlir").read_text(encoding="utf-8") == text
    assert "-p 'fails-later,fails'" in (tmp_path / "command.txt").read_text(encoding="utf-8")


def test_pipelines_are_parsed_by_name_with_options():
    cse, fusion = pipeline.parse_passes("cse,d2m-generic-fusion{fuse=false}")
    assert cse.name == "cse"
    assert fusion == D2MGenericFusion(fuse=False)


def test_an_op_of_constants_alone_reads_the_first_of_them_as_a_tensor():
    graph = Graph(tiled(32, 32))
    (x,) = graph.args
    value = graph.op("add", graph.full(1.0, x), graph.full(2.0, x))
    module = lowered(graph.module(graph.op("multiply", value, x)))
    assert [op.fill_value.value.data for op in module.walk() if isinstance(op, ttir.FullOp)] == [1.0]


def test_a_kernel_that_does_not_fit_into_dst_is_refused_at_its_line():
    graph = Graph(tiled(32, 32), tiled(32, 32))
    small = dataclasses.replace(PRESETS["wormhole_b0"], name="small", dst_tiles=4)
    with pytest.raises(PassError, match="`add` needs 3 DST tiles, small has 2"):
        lowered(graph.module(graph.op("add", *graph.args), target=small))


def test_every_kernel_has_a_launch_with_its_program():
    module = lowered(cosh(tiled(64, 64)), until="convert-d2m-to-ttnn", math_fidelity=MathFidelity.LoFi)
    (launch,) = [op for op in module.walk() if isinstance(op, ttnn.GenericOp)]
    program = launch.program.fields.data
    assert program["kernel"].root_reference.data == "cosh_kernel0"
    assert program["math_fidelity"].data == "LoFi"
    assert [(cb.data["num_pages"].value.data, cb.data["page_size"].value.data) for cb in program["cbs"]] == [
        (1, 2048)
    ] * 3
    assert "func.func private @cosh_kernel0" in print_module(module)
    assert not kernels(module)


def test_the_documents_pipeline_is_all_stages_after_the_first():
    passes = pipeline.parse_passes("convert-ttnn-to-ttir,ttir-to-ttmetal-pipeline{ttnn-mode=true}")
    assert tuple(stage.name for stage in passes) == pipeline.STAGES


@pytest.mark.parametrize("path", ["/tmp/a b/c.json", "c.json", "../c_d-e.json", "/x/y,z.json", "~", "desc"])
@pytest.mark.parametrize("order", ["system-desc-path={} ttnn-mode=true", "ttnn-mode=true system-desc-path={}"])
def test_the_documents_pipeline_takes_its_target_from_a_file(path, order):
    quoted = f'"{path}"' if " " in path else path
    first, *others = pipeline.parse_passes(f"ttir-to-ttmetal-pipeline{{{order.format(quoted)}}}")
    assert first == TTCoreRegisterDevice(path)
    assert tuple(stage.name for stage in others) == pipeline.STAGES[1:]
    assert pipeline.parse_passes(str(first.spec())) == (first,)


def test_an_empty_path_means_no_file():
    for text in (
        "system-desc-path= ttnn-mode=true",
        "ttnn-mode=true system-desc-path=",
        'ttnn-mode=true system-desc-path=""',
    ):
        passes = pipeline.parse_passes(f"ttir-to-ttmetal-pipeline{{{text}}}")
        assert tuple(stage.name for stage in passes) == pipeline.STAGES[1:]


@pytest.mark.parametrize(
    "options",
    [
        "",
        "{ttnn-mode=false}",
        "{system-desc-path=a.json}",
        "{ttnn-mode=true other=1}",
        "{ttnn-mode=true system-desc-path}",
        '{ttnn-mode=true system-desc-path="a","b"}',
    ],
)
def test_the_documents_pipeline_takes_no_other_options(options):
    with pytest.raises(ArgumentError, match=r"takes ttnn-mode=true and system-desc-path=FILE, got `ttir"):
        pipeline.parse_passes(f"ttir-to-ttmetal-pipeline{options}")


def test_a_pass_that_moves_ops_into_functions_is_followed_by_inline():
    import ttnn_jit

    def chain(x):
        return ttnn_jit.ttnn.exp(x) + 1.0

    x = torch.ones(8, 8)
    moving = "move-into-a-function"
    with pytest.raises(CompileError, match="a program is one function, the module has 2") as refused:
        ttnn_jit.jit(extra_pipeline_options=moving)(chain)(x)
    assert refused.value.help == "`inline` has calls become what they call"
    inlined = ttnn_jit.jit(extra_pipeline_options=f"after-frontend{{{moving},inline}}")(chain)
    assert torch.equal(inlined(x), ttnn_jit.jit()(chain)(x))


@pytest.mark.parametrize("name", ["inline", "ttcore-register-device"])
def test_a_pass_that_is_no_stage_declares_what_it_follows(name):
    with pytest.raises(ArgumentError, match=f"`{name}` follows no stage of its own") as refused:
        pipeline.extra_passes(name)
    assert refused.value.help == f"write `after-STAGE{{{name}}}`"
    assert [*pipeline.extra_passes(f"after-cse{{{name}}}")] == ["cse"]
