"""Passes over texts keep results, leave valid texts in one version's form, and refuse by name what is not run here."""

import re
from math import prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts.passes_keep_results import after_passes, disagreement, results_of
from tests.end_to_end.texts.test_ops_of_texts import OPS, module_of
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.text.content import content_of
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.buffer_allocation import Buffer, place
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import opt_main
from ttnn_jit.transforms.passes.convert_stablehlo_to_ttir import StablehloToTTIRPipeline
from ttnn_jit.transforms.texts.registry import REFUSED_PASSES, text_pass_class, text_pass_names, text_passes

PIPELINE = "ttir-to-ttnn-backend-pipeline"
OF_TTIR = (
    "canonicalize",
    "cse",
    "inline",
    "remove-dead-values",
    "ttir-fusing",
    "ttir-to-ttir-decomposition",
    "ttir-explicate-tms",
    "ttir-implicit-broadcast-fold",
    "ttir-erase-inverse-ops{force=true}",
    "ttir-element-type-normalization",
    "ttir-flatten-sliding-window",
    "ttir-quant-data-type-conversion",
    "const-eval-hoist-transform",
    "ttcore-wrap-device-module",
    "ttcore-register-device",
    "ttir-to-ttnn-common-pipeline",
    PIPELINE,
)


def results(text, inputs=None):
    (module,) = parse_texts(text, "text.mlir")
    return results_of(module, inputs)


def passed(text, passes, ir_version=""):
    """The text after passes, verified; it reads as an equal module."""
    module = parse_upstream(text)
    name, _, options = passes.partition("{")
    for each in text_passes(name, options.removesuffix("}"), ir_version=ir_version):
        each.apply(None, module)
    verify_upstream(module)
    printed = print_module(module)
    assert content_of(parse_upstream(printed)) == content_of(module)
    return printed


WITHOUT_TTNN = {"arithmetic shift"}
"""TTNN shifts no signed integers."""
OF_TTIR_AND_TTNN = [title for title, op in OPS.items() if op.startswith("ttir.") and title not in WITHOUT_TTNN]
REFUSED = {
    "convolution": r"failed to legalize operation 'ttir\.",
    "pooling": r"failed to legalize operation 'ttir\.",
    "mean of windows with much padding": r"only supports lowering to TTNN for dilation of \(1, 1\)",
}
"""What TTNN has no operation for: windows that are reversed, of three dimensions, and means of dilated ones."""


@pytest.mark.parametrize("title", OF_TTIR_AND_TTNN)
def test_an_op_of_ttir_has_equal_results_as_ttnn(title):
    text = module_of(OPS[title])
    _, drawn = results(text)
    # A chip's integers have 32 bits: wider numbers are saturated, by tt-mlir too.
    wanted, inputs = results(text, [each % 1000 if each.dtype is torch.int64 else each for each in drawn])
    if title in REFUSED:
        with pytest.raises(TtnnJitError, match=REFUSED[title]):
            after_passes(text, PIPELINE)
        return
    module = after_passes(text, PIPELINE)
    found, _ = results_of(module, inputs)
    assert disagreement(wanted, found) == ""


class Written:
    """A function of f32 tensors that grows op by op."""

    def __init__(self, draw):
        self.draw = draw
        self.lines, self.shapes = [], {}
        self.arguments = []
        for index in range(draw(st.integers(1, 3))):
            name = f"%a{index}"
            self.shapes[name] = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
            kind = draw(st.sampled_from(["input", "parameter", "constant"]))
            self.arguments.append(f"{name}: {self.type(name)} {{ttcore.argument_type = #ttcore.argument_type<{kind}>}}")

    def type(self, name):
        return f"tensor<{'x'.join(map(str, self.shapes[name]))}xf32>"

    def op(self, name, operands, shape, attributes=""):
        result = f"%{len(self.lines)}"
        self.shapes[result] = tuple(shape)
        given = f" <{{{attributes}}}>" if attributes else ""
        types = ", ".join(map(self.type, operands))
        self.lines.append(f'{result} = "ttir.{name}"({", ".join(operands)}){given} : ({types}) -> {self.type(result)}')
        return result

    def any_value(self):
        return self.draw(st.sampled_from(sorted(self.shapes)))

    def grow(self):  # noqa: C901 - a case for each kind of op
        value = self.any_value()
        shape = self.shapes[value]
        kinds = ("unary", "binary", "permute", "reshape", "slice", "concat", "reduce", "matmul", "full", "softmax")
        match self.draw(st.sampled_from(kinds)):
            case "unary":
                self.op(self.draw(st.sampled_from(["neg", "relu", "abs", "sigmoid", "tanh"])), [value], shape)
            case "binary":
                same = [name for name, other in sorted(self.shapes.items()) if other == shape]
                rows = (1,) * (len(shape) - 1) + shape[-1:]
                same += [name for name, other in sorted(self.shapes.items()) if other == rows]
                other = self.draw(st.sampled_from(same))
                name = self.draw(st.sampled_from(["add", "multiply", "maximum", "subtract", "minimum"]))
                self.op(name, [value, other], shape)
            case "permute":
                order = self.draw(st.permutations(range(len(shape))))
                listed = ", ".join(map(str, order))
                self.op("permute", [value], [shape[i] for i in order], f"permutation = array<i64: {listed}>")
            case "reshape":
                new = self.draw(st.sampled_from([(prod(shape), 1), (1, prod(shape)), (1, *shape), (*shape, 1)]))[:6]
                self.op("reshape", [value], new, f"shape = [{', '.join(f'{each} : i32' for each in new)}]")
            case "slice":
                dim = self.draw(st.integers(0, len(shape) - 1))
                begin = self.draw(st.integers(0, shape[dim] - 1))
                begins = [begin if i == dim else 0 for i in range(len(shape))]
                spelled = {"begins": begins, "ends": shape, "step": [1] * len(shape)}
                listed = (f"{k} = [{', '.join(f'{each} : i32' for each in v)}]" for k, v in spelled.items())
                new = [shape[i] - begins[i] for i in range(len(shape))]
                self.op("slice_static", [value], new, ", ".join(listed))
            case "concat":
                dim = self.draw(st.integers(0, len(shape) - 1))
                new = [2 * each if i == dim else each for i, each in enumerate(shape)]
                self.op("concat", [value, value], new, f"dim = {dim} : si32")
            case "reduce":
                dim = self.draw(st.integers(0, len(shape) - 1))
                name = self.draw(st.sampled_from(["sum", "max", "mean"]))
                new = [1 if i == dim else each for i, each in enumerate(shape)]
                self.op(name, [value], new, f"dim_arg = [{dim} : i32], keep_dim = true")
            case "matmul":
                order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
                turned = [shape[i] for i in order]
                other = self.op("permute", [value], turned, f"permutation = array<i64: {', '.join(map(str, order))}>")
                self.op("matmul", [value, other], [*shape[:-1], shape[-2]])
            case "full":
                number = self.draw(st.sampled_from([0.0, 6.0, 0.5]))
                extents = ", ".join(map(str, shape))
                self.op("full", [], shape, f"fill_value = {number:e} : f32, shape = array<i32: {extents}>")
            case "softmax":
                self.op("softmax", [value], shape, f"dimension = {len(shape) - 1} : si32")

    def text(self):
        last = list(self.shapes)[-3:]
        types = ", ".join(map(self.type, last))
        body = "\n  ".join(self.lines)
        return (
            f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{\n  {body}\n"
            f"  return {', '.join(last)} : {types}\n}}\n"
        )


@st.composite
def modules(draw):
    written = Written(draw)
    for _ in range(draw(st.integers(1, 8))):
        written.grow()
    return written.text()


@settings(max_examples=12, deadline=None)
@given(text=modules(), passes=st.sampled_from(OF_TTIR))
def test_a_pass_keeps_the_results_of_any_module(text, passes):
    wanted, inputs = results(text)
    found, _ = results_of(after_passes(text, passes), inputs)
    for one, other in zip(wanted, found, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-4, equal_nan=True)


@settings(max_examples=8, deadline=None)
@given(text=modules())
def test_ttnn_becomes_ttir_and_the_same_ttnn_again(text):
    once = passed(text, "ttir-to-ttnn-common-pipeline{enable-fusing-pass=false enable-const-eval=false}")
    back = passed(once, "convert-ttnn-to-ttir{tagged-only=false}")
    assert '"ttnn.' not in back.replace('"ttnn.pow_scalar"', "")
    again = passed(back, "convert-ttir-to-ttnn")
    assert content_of(parse_upstream(again)) == content_of(parse_upstream(passed(once, "convert-ttir-to-ttnn")))


def test_the_version_decides_the_form_and_is_that_of_the_text_by_default():
    text = module_of("ttir.add : 32x32xbf16, 32x32xbf16 -> 32x32xbf16")
    assert '"ttnn.add"(%arg0, %arg1) <{dtype = #ttcore.supportedDataTypes<bf16>}>' in passed(text, PIPELINE)
    august = passed(text, PIPELINE, ir_version="2026-08")
    assert '"ttnn.add"(%arg0, %arg1) : ' in august
    assert "dramGrid" in august
    of_august = module_of("ttir.gather {dim = 0 : i32} : 3x8xf32, 3x8xi32 -> 3x8xf32")
    assert '"ttnn.gather"' in passed(of_august, PIPELINE)
    assert "dramGrid" in passed(of_august, PIPELINE)


def test_every_pass_has_a_class_with_its_name_and_is_listed(capsys):
    for name in text_pass_names():
        assert text_pass_class(name).name == name
    assert opt_main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name}  (over texts)" in listed for name in text_pass_names())


@pytest.mark.parametrize("name", sorted(REFUSED_PASSES))
def test_a_pass_that_is_not_run_is_refused_by_name_with_the_reason(name, tmp_path, capsys):
    (tmp_path / "m.mlir").write_text(module_of(OPS["matmul"]))
    assert opt_main([f"--{name}", str(tmp_path / "m.mlir")]) == 1
    assert f"error: `{name}` is not run here: {REFUSED_PASSES[name]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("passes", "said"),
    [
        (f"{PIPELINE}{{enable-optimizer=true}}", "does not take `enable-optimizer` here: the optimizer asks a model"),
        (f"{PIPELINE}{{mesh-shape=a}}", "'a' is no value of it"),
        ("ttcore-register-device{mesh-topology=star}", "it is ring, linear, disabled"),
        (f"{PIPELINE}{{enable-const-eval=maybe}}", "'maybe' is no value of it: it is true or false"),
        (f"{PIPELINE}{{override-conv3d-config=a=t_out_block#1:wide#2}}", "'wide#2' is no block of a `conv3d`"),
        (f"{PIPELINE}{{override-conv3d-config=a=c_in_block#x}}", "'c_in_block#x' is no block of a `conv3d`"),
        (f"{PIPELINE}{{override-conv3d-config=a}}", "'' is no block of a `conv3d`"),
        (f"{PIPELINE}{{override-conv3d-config=a=weights_dtype#bf16}}", "takes no `weights_dtype` here"),
        (f"{PIPELINE}{{enable-nothing=true}}", "has no option `enable-nothing`"),
        ("ttcore-register-device{mock-system-desc-arch=grayskull}", "it is wormhole_b0 or blackhole"),
        ("ttnn-layout{ir-version=2024-01}", "the versions are 2025-12, 2026-08"),
        ("tt-populate-argument-types{argument-types=f=weights}", "Invalid argument type: weights"),
    ],
)
def test_a_wrong_option_is_refused_by_name(passes, said):
    name, _, options = passes.partition("{")
    with pytest.raises(ArgumentError, match=re.escape(said)):
        text_passes(name, options.removesuffix("}"))


def test_blocks_of_convolutions_change_no_pass():
    chosen = "override-conv3d-config=one=c_in_block#64:t_out_block#2,two=h_out_block#1"
    with_blocks, without = (text_passes(PIPELINE, each) for each in (f"optimization-level=1 {chosen}", ""))
    assert with_blocks == without


def test_an_option_that_is_refused_may_be_off():
    assert text_passes(PIPELINE, "enable-optimizer=false system-desc-path= enable-const-eval=false")


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("n300", "meshShape = 1x2, chipIds = [0, 1]"),
        ("p150", "arch = <blackhole>, grid = "),
        ("t3000", "meshShape = 2x4"),
        ("cpu-host", "8x8"),
    ],
)
def test_a_system_is_named_by_its_name(system, said):
    assert said in passed("module {}", f"ttcore-register-device{{system-desc-path={system}}}")


def test_the_mesh_is_that_of_the_option_or_of_the_module():
    meshes = 'module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>} {}'
    assert "meshShape = 2x4" in passed(meshes, "ttcore-register-device")
    assert "meshShape = 1x2" in passed(meshes, "ttcore-register-device{mesh-shape=1,2}")


GATHERED = """func.func @main(%x: tensor<1x1x32x32xbf16>) -> tensor<1x1x32x64xbf16> {{
  %0 = "ttnn.all_gather"(%x) <{{all_gather_dim = 3 : si32, cluster_axis = {axis} : ui32{given}}}>
    : (tensor<1x1x32x32xbf16>) -> tensor<1x1x32x64xbf16>
  return %0 : tensor<1x1x32x64xbf16>
}}"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("first", ["ring", "linear", "disabled"])
@pytest.mark.parametrize("given", ["", "linear"])
def test_a_collective_without_a_topology_gets_that_of_its_axis(axis, first, given):
    stated = f", topology = #ttcore.topology<{given}>" if given else ""
    text = passed(
        GATHERED.format(axis=axis, given=stated), f"ttcore-register-device{{mesh-shape=2,2 mesh-topology={first},ring}}"
    )
    found = re.findall(r"topology = #ttcore.topology<(\w+)>", passed(text, "ttnn-configure-ccl-ops"))
    assert found == [given or {0: "ring", 1: first}[axis]] or (found == [] and axis == 1 and first == "disabled")


@given(
    lives=st.lists(
        st.tuples(st.integers(1, 5000), st.integers(0, 20), st.integers(0, 8), st.sampled_from(["dram", "l1"])),
        max_size=30,
    )
)
def test_tensors_that_live_at_one_time_never_overlap(lives):
    buffers = [Buffer(object(), space, size, first, first + more) for size, first, more, space in lives]
    addresses, peaks = place(buffers, {"dram": 1000, "l1": 64})
    for index, one in enumerate(buffers):
        start = addresses[one.value]
        assert start >= {"dram": 1000, "l1": 64}[one.space]
        assert start + one.size <= {"dram": 1000, "l1": 64}[one.space] + peaks[one.space]
        for other in buffers[:index]:
            if one.space == other.space and one.first <= other.last and other.first <= one.last:
                begin = addresses[other.value]
                assert start + one.size <= begin or begin + other.size <= start


def test_arguments_and_results_get_addresses_and_the_module_still_runs():
    text = module_of(OPS["matmul"])
    wanted, inputs = results(text)
    placed = passed(passed(text, PIPELINE), "ttir-allocate")
    assert placed.count("ttcore.arg_alloc = ") == 2
    assert "ttcore.peak_bytes = {dram = " in placed
    (module,) = parse_texts(passed(placed, "ttcore-unwrap-device-module"), "text.mlir")
    found, _ = results_of(module, inputs)
    assert disagreement(wanted, found) == ""


def test_a_text_of_stablehlo_becomes_ttnn_in_one_command_line(tmp_path, capsys):
    file = tmp_path / "model.mlir"
    file.write_text("""
    func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %1 = stablehlo.tanh %0 : tensor<4x16xf32>
      return %1 : tensor<4x16xf32>
    }""")
    options = ["--stablehlo-to-ttir-pipeline", f"--{PIPELINE}", "--ttcore-unwrap-device-module"]
    assert opt_main([*options, str(file)]) == 0
    text = capsys.readouterr().out
    assert '"ttnn.matmul"' in text
    assert "stablehlo." not in text
    (module,) = parse_texts(text, "text.mlir")
    inputs = [torch.randn(4, 8), torch.randn(8, 16)]
    (found,), _ = results_of(module, inputs)
    torch.testing.assert_close(found, torch.tanh(inputs[0] @ inputs[1]), rtol=1e-5, atol=1e-5)


LOADED = """
from dataclasses import dataclass
from xdsl.passes import ModulePass

@dataclass(frozen=True)
class CountOps(ModulePass):
    name = "count-ops"
    dialect: str = "ttir"

    def apply(self, ctx, op):
        print(sum(each.name.startswith(self.dialect + ".") for each in op.walk()))
"""


def test_a_pass_of_a_loaded_file_runs_among_those_over_texts(tmp_path, capsys):
    (tmp_path / "count_ops.py").write_text(LOADED)
    (tmp_path / "m.mlir").write_text(module_of(OPS["matmul"]))
    options = ["--load", str(tmp_path / "count_ops.py"), "--count-ops", f"--{PIPELINE}", "--count-ops=dialect=ttnn"]
    assert opt_main([*options, "--mlir-print-ir-after=ttnn-layout", "--mlir-timing", str(tmp_path / "m.mlir")]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "1"
    assert int(out.splitlines()[1]) > 1
    assert err.count("IR Dump After ttnn-layout") == 1
    assert "ttnn-deallocate" in err


def test_public_functions_of_no_kind_run_on_the_device():
    text = """module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tt.function_type = "const_eval"} {
    return %x : tensor<4xf32>
  }
}
"""
    marked = print_module(after_passes(text, "ttcore-mark-functions-as-forward"))
    assert marked.count('tt.function_type = "forward_device"') == 1
    assert marked.count('tt.function_type = "const_eval"') == 1


EXCHANGED = """
module {
  func.func @main(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
    %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: -1, 0>, shard_shape = array<i64: 4, 1>,
      shard_direction = #ttcore.shard_direction<full_to_shard>, shard_type = #ttcore.shard_type<devices>}>
      : (tensor<8x12xf32>) -> tensor<2x12xf32>
    %1 = EXCHANGE : (tensor<2x12xf32>) -> tensor<2x12xf32>
    %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1, 0>, shard_shape = array<i64: 4, 1>,
      shard_direction = #ttcore.shard_direction<shard_to_full>, shard_type = #ttcore.shard_type<devices>}>
      : (tensor<2x12xf32>) -> tensor<8x12xf32>
    return %2 : tensor<8x12xf32>
  }
}
"""
GROUPS = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"


def _broadcast_in_pairs(x):
    return torch.cat([x[:2], x[:2], x[4:6], x[4:6]])


def _exchanged_in_pairs(x):
    pairs = ((first, first + 1) for first in (0, 2))
    shards, halves = x.split(2), ((0, 6), (6, 12))
    made = [torch.cat([shards[each][:, a:b] for each in pair], 1) for pair in pairs for a, b in halves]
    return torch.cat(made)


@pytest.mark.parametrize(
    ("exchange", "golden"),
    [
        (f'"ttir.collective_broadcast"(%0) <{{{GROUPS}}}>', _broadcast_in_pairs),
        (
            '"ttir.all_to_all"(%0) <{split_dim = 1 : si32, concat_dim = 1 : si32, split_count = 2 : si32, '
            f"{GROUPS}}}>",
            _exchanged_in_pairs,
        ),
    ],
    ids=["broadcast", "all_to_all"],
)
def test_exchanges_of_groups_become_tensors_from_one_device_to_another(exchange, golden):
    text = EXCHANGED.replace("EXCHANGE", exchange)
    module = after_passes(text, "ttir-to-ttnn-backend-pipeline{mesh-shape=1,4}")
    assert "ttnn.point_to_point" in print_module(module)
    x = torch.arange(96.0).reshape(8, 12)
    for each in (*parse_texts(text, "text.mlir"), module):
        made = TextModule(each, PRESETS["cpu"], (1, 4))
        (result,) = made.program("main")(x)
        assert torch.equal(result, golden(x))
        assert all(step.matches for step in GoldenRun(made, "main", [x]).compared())


def test_constants_without_dimensions_and_constants_of_arith_become_ttnn():
    text = """func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) {
      %0 = stablehlo.constant dense<3.0> : tensor<f32>
      %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %2 = stablehlo.add %x, %0 : tensor<f32>
      return %2, %1 : tensor<f32>, tensor<2xf32>
    }"""
    (module,) = parse_texts(text, "text.mlir")
    StablehloToTTIRPipeline().apply(None, module)
    for each in text_passes(PIPELINE, "enable-const-eval=false"):
        each.apply(None, module)
    verify_upstream(module)
    printed = print_module(module)
    assert "arith" not in printed
    (first, second), _ = results(printed, [torch.tensor(4.0)])
    assert (first.item(), second.tolist()) == (7.0, [1.0, 2.0])


@pytest.mark.parametrize(
    ("op", "results_of_op", "operands"),
    [
        (
            "ttir.conv3d <{stride = array<i32: 1, 2, 1>, padding = array<i32: 0, 1, 0>, groups = 1 : i32, "
            "batch_dim = 0 : i64, channel_dim = 1 : i64, depth_dim = 2 : i64, height_dim = 3 : i64, "
            "width_dim = 4 : i64}>",
            "tensor<1x5x2x4x5xf32>",
            ("tensor<1x3x4x8x7xf32>", "tensor<5x3x3x3x3xf32>"),
        ),
        ("ttir.pow", "tensor<4x8xf32>", ("tensor<4x8xf32>", "tensor<4x8xf32>")),
    ],
    ids=["channels first", "negative exponent"],
)
def test_what_rules_of_ttnn_ask_is_what_conversions_write(op, results_of_op, operands):
    name, _, properties = op.partition(" ")
    arguments = ", ".join(f"%{index}: {type_}" for index, type_ in enumerate(operands))
    exponent = ""
    values = "%0, %1"
    if name == "ttir.pow":
        exponent = f'%e = "ttir.full"() <{{shape = array<i32: 4, 8>, fill_value = -3.0 : f32}}> : () -> {operands[1]}\n'
        values = "%0, %e"
    text = (
        f"func.func @f({arguments}) -> {results_of_op} {{\n{exponent}"
        f'  %r = "{name}"({values}) {properties} : ({", ".join(operands)}) -> {results_of_op}\n'
        f"  return %r : {results_of_op}\n}}"
    )
    before, inputs = results(text, [1 + torch.rand([*map(int, re.findall(r"(\d+)x", each))]) for each in operands])
    after, _ = results(passed(text, PIPELINE, "2026-08"), inputs)
    torch.testing.assert_close(after[0], before[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("read", ['"ttir.neg"(%0) : (T)', '"ttir.add"(%x, %0) : (T, T)'])
def test_an_empty_tensor_that_is_the_last_operand_and_no_destination_is_one_of_ttnn(read):
    text = f"func.func @f(%x: T) -> T {{ %0 = ttir.empty() : T %1 = {read} -> T return %1 : T }}"
    lowered = passed(text.replace("T", "tensor<32x32xf32>"), PIPELINE)
    assert "ttnn.empty" in lowered
    assert "ttir." not in lowered
