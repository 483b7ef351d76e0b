"""StableHLO and TOSA texts run, and the passes to TTIR leave modules that compute the same.

tests/oracle/test_stablehlo_against_jax.py compares texts of jax with XLA.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.end_to_end.texts.converted_texts import assert_runs_alike, converted, loaded, of_ops, ran
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.texts.bisect import module_of_op

UNARY = """
ceil floor cosine sine tan exponential exponential_minus_one log log_plus_one logistic rsqrt sqrt tanh cbrt negate abs
sign round_nearest_even round_nearest_afz
"""


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one_operand(name, element):
    kind = f"5x7x{element}"
    assert_runs_alike(of_ops({"x": kind}, [f"%out = stablehlo.{name} %x : tensor<{kind}>"], kind))


ARITHMETIC = ["add", "multiply", "maximum", "minimum", "subtract", "divide", "remainder", "power"]
OF_FLAGS = ARITHMETIC[:4]


@pytest.mark.parametrize(
    ("name", "element"),
    [(name, element) for name in ARITHMETIC for element in ("f32", "i32", "ui32")]
    + [(name, "i1") for name in OF_FLAGS],
)
def test_arithmetic(name, element):
    kind = f"5x7x{element}"
    assert_runs_alike(of_ops({"x": kind, "y": kind}, [f"%out = stablehlo.{name} %x, %y : tensor<{kind}>"], kind))


@pytest.mark.parametrize("element", ["i32", "ui32"])
@pytest.mark.parametrize(
    "name", ["and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic", "popcnt", "not"]
)
def test_bits(name, element):
    kind = f"5x7x{element}"
    operands = "%x" if name in {"popcnt", "not"} else "%x, %y"
    text = of_ops({"x": kind, "y": kind}, [f"%out = stablehlo.{name} {operands} : tensor<{kind}>"], kind)
    assert_runs_alike(text)


@pytest.mark.parametrize("compare", ["FLOAT", "TOTALORDER"])
@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_comparisons_of_zeros_and_nan(direction, compare):
    line = (
        f"%out = stablehlo.compare {direction}, %x, %y, {compare} : (tensor<25xf32>, tensor<25xf32>) -> tensor<25xi1>"
    )
    numbers = torch.tensor([0.0, -0.0, 1.0, float("inf"), float("nan")])
    inputs = [numbers.repeat_interleave(5), numbers.repeat(5)]
    ran(of_ops({"x": "25xf32", "y": "25xf32"}, [line], "25xi1"), inputs)


REDUCERS = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("first", [0, 3])
def test_reductions_of_integers_from_any_first_value(name, first):
    lines = [
        f"%c = stablehlo.constant dense<{first}> : tensor<i32>",
        f"%out = stablehlo.reduce(%x init: %c) applies stablehlo.{name} across dimensions = [1] : "
        "(tensor<3x5x4xi32>, tensor<i32>) -> tensor<3x4xi32>",
    ]
    assert_runs_alike(of_ops({"x": "3x5x4xi32"}, lines, "3x4xi32"))


WINDOW = """
func.func @main(%x: tensor<5x6xf32>, %c: tensor<f32>) -> tensor<{result}xf32> {{
  %out = "stablehlo.reduce_window"(%x, %c) <{{{attributes}}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.{name} %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }}) : (tensor<5x6xf32>, tensor<f32>) -> tensor<{result}xf32>
  return %out : tensor<{result}xf32>
}}
"""


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["add", "maximum", "multiply"]),
    st.tuples(*[st.integers(1, 4)] * 2),
    st.tuples(*[st.integers(1, 3)] * 2),
    st.tuples(*[st.integers(1, 2)] * 4),
    st.tuples(*[st.integers(-1, 2)] * 4),
)
def test_windows_of_any_geometry(name, sizes, strides, dilations, padding):
    result = []
    for axis, extent in enumerate((5, 6)):
        whole = (extent - 1) * dilations[axis] + 1 + padding[2 * axis] + padding[2 * axis + 1]
        result.append((whole - (sizes[axis] - 1) * dilations[2 + axis] - 1) // strides[axis] + 1)
    if min(result) < 1:
        return
    attributes = (
        f"window_dimensions = array<i64: {sizes[0]}, {sizes[1]}>, window_strides = array<i64: {strides[0]}, "
        f"{strides[1]}>, base_dilations = array<i64: {dilations[0]}, {dilations[1]}>, window_dilations = array<i64: "
        f"{dilations[2]}, {dilations[3]}>, padding = dense<[[{padding[0]}, {padding[1]}], "
        f"[{padding[2]}, {padding[3]}]]> : tensor<2x2xi64>"
    )
    ran(WINDOW.format(name=name, attributes=attributes, result="x".join(map(str, result))))


WHILE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<COUNT> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.add %a, %x : tensor<4xf32>
    stablehlo.return %j, %b : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_loop_with_a_known_count_is_written_out(count):
    (x,), (found,) = ran(WHILE.replace("COUNT", str(count)))
    torch.testing.assert_close(found, x * (count + 1))


def test_a_loop_without_one_is_refused_at_its_place():
    text = (
        WHILE.replace("COUNT", "5")
        .replace("%x: tensor<4xf32>)", "%x: tensor<4xf32>, %m: tensor<i32>)")
        .replace("%p = stablehlo.compare LT, %i, %n", "%p = stablehlo.compare LT, %i, %m")
    )
    with pytest.raises(CompileError, match="how often it repeats is not known") as caught:
        loaded(text).program("main")
    assert caught.value.location.line == 4


ONE_OP = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = OP(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
REFUSED = {
    "stablehlo.cholesky": "TTIR does not factor or solve matrices",
    "stablehlo.create_token": "nothing is exchanged with a host",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_ttir_has_not_is_refused_by_name(name):
    text = ONE_OP.replace("OP", f'"{name}"')
    with pytest.raises(CompileError, match=f"`{name}`: .*{REFUSED[name]}") as caught:
        loaded(text).program("main")
    assert caught.value.location.line == 3


def test_a_custom_call_is_refused_by_its_target(tmp_path, capsys):
    text = ONE_OP.replace("OP", "stablehlo.custom_call @lapack")
    file = tmp_path / "text.mlir"
    file.write_text(text)
    assert main(["run", str(file)]) == 1
    assert "text.mlir:3:3: `stablehlo.custom_call@lapack` is not executed here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('"vhlo.func_v1"() ({\n  "vhlo.return_v1"() : () -> ()\n}) : () -> ()\n', "1:1"),
        ("module {\n  vhlo.func_v1 @main(%a: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> () {\n  }\n}\n", "2:3"),
    ],
)
def test_the_portable_form_is_refused_with_what_converts_it(text, place, tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(text)
    assert main(["run", str(file)]) == 1
    error = capsys.readouterr().err
    assert f"text.mlir:{place}: `vhlo.func_v1` is of VHLO" in error
    assert "--vhlo-legalize-to-stablehlo" in error


def test_an_unknown_op_in_an_assembly_of_its_own_is_refused_by_name(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text("func.func @main(%a: tensor<4xf32>) {\n  check.expect %a : tensor<4xf32>\n  return\n}\n")
    assert main(["run", str(file)]) == 1
    assert "text.mlir:2:3: Operation check.expect is not registered" in capsys.readouterr().err


COMPOSITE = """
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.composite "a.b" %x {decomposition = @impl} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
func.func private @impl(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
"""


def test_a_composite_is_its_decomposition_and_by_its_name_an_op_of_ttir():
    assert_runs_alike(COMPOSITE)
    assert "ttir.gelu" in converted(COMPOSITE.replace('"a.b"', '"tenstorrent.gelu"'))


# --- TOSA -------------------------------------------------------------------------------------------------------------

TOSA = """
func.func @main(%a: tensor<13x21x3xf32>, %b: tensor<1x21x1xf32>, %m: tensor<2x4x8xf32>, %n: tensor<2x8x3xf32>,
    %p: tensor<1x8x6x2xf32>) -> (tensor<13x63xf32>, tensor<2x4x3xf32>, tensor<1x4x3x2xf32>, tensor<13x1x3xf32>) {
  %0 = tosa.add %a, %b : (tensor<13x21x3xf32>, tensor<1x21x1xf32>) -> tensor<13x21x3xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %1 = tosa.mul %0, %a, %s : (tensor<13x21x3xf32>, tensor<13x21x3xf32>, tensor<1xi8>) -> tensor<13x21x3xf32>
  %2 = tosa.clamp %1 {min_val = -1.0 : f32, max_val = 3.0 : f32} : (tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
  %3 = tosa.const_shape {values = dense<[13, 63]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %4 = tosa.reshape %2, %3 : (tensor<13x21x3xf32>, !tosa.shape<2>) -> tensor<13x63xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %5 = tosa.matmul %m, %n, %z, %z
      : (tensor<2x4x8xf32>, tensor<2x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x3xf32>
  %6 = tosa.max_pool2d %p {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x8x6x2xf32>) -> tensor<1x4x3x2xf32>
  %7 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<13x21x3xf32>) -> tensor<13x1x3xf32>
  return %4, %5, %6, %7 : tensor<13x63xf32>, tensor<2x4x3xf32>, tensor<1x4x3x2xf32>, tensor<13x1x3xf32>
}
"""


def test_tosa_runs_as_the_ttir_that_its_pass_leaves():
    assert_runs_alike(TOSA, "convert-tosa-to-ttir")


def test_every_conversion_says_how_it_is_refused_or_computed():
    declared = {each for each in text_operations().values() if isinstance(each, Conversion)}
    assert len(declared) > 150
    assert all(each.refusal or each.convert for each in declared)


def test_constants_of_shardy_run_and_layouts_of_xla_change_nothing():
    text = """
    func.func @main(%x: tensor<3x2xf32>) -> tensor<2x3xf32> {
      %c = sdy.constant dense<2.0> : tensor<2x3xf32>
      %t = stablehlo.transpose %x, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>,
        xla_shape = "f32[2,3]{0,1}"} : (tensor<3x2xf32>) -> tensor<2x3xf32>
      %y = stablehlo.multiply %c, %t : tensor<2x3xf32>
      return %y : tensor<2x3xf32>
    }"""
    (x,), (found,) = ran(text)
    assert torch.equal(found, 2 * x.T)


@pytest.mark.parametrize(
    ("op", "other"),
    [
        (
            '"stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<[0, 2]> : tensor<2xi64>}'
            " : (tensor<3x4xf32>) -> tensor<3x5x4xf32>",
            "stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x5x4xf32>",
        ),
        (
            '"stablehlo.slice"(%x) {start_indices = dense<1> : tensor<2xi64>, limit_indices = dense<[3, 4]> : '
            "tensor<2xi64>, strides = dense<1> : tensor<2xi64>} : (tensor<3x4xf32>) -> tensor<2x3xf32>",
            "stablehlo.slice %x [1:3, 1:4] : (tensor<3x4xf32>) -> tensor<2x3xf32>",
        ),
        (
            '"stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims'
            " = [0], start_index_map = [0, 1]>, slice_sizes = dense<[1, 2]> : tensor<2xi64>} : (tensor<3x4xf32>, "
            "tensor<2xi32>) -> tensor<2xf32>",
            '"stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims'
            " = [0], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 2>} : (tensor<3x4xf32>, tensor<2xi32>) -> "
            "tensor<2xf32>",
        ),
    ],
)
def test_extents_and_axes_may_be_tensors_as_in_texts_of_2023(op, other):
    result = op.rpartition("-> ")[2]
    texts = (
        f"func.func @main(%x: tensor<3x4xf32>, %i: tensor<2xi32>) -> {result} {{\n"
        f"  %0 = {each}\n  return %0 : {result}\n}}"
        for each in (op, other)
    )
    inputs = [torch.arange(12.0).reshape(3, 4), torch.tensor([1, 2], dtype=torch.int32)]
    (got,), (right,) = (ran(each, inputs)[1] for each in texts)
    assert torch.equal(got, right)


_READS_CONSTANTS = """func.func @main(%x: tensor<3x5xi1>, %y: tensor<3x4xf32>) -> (tensor<3xi1>, tensor<3xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %half = stablehlo.constant dense<5.0e-01> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %false) across dimensions = [1] : (tensor<3x5xi1>, tensor<i1>) -> tensor<3xi1>
   reducer(%a: tensor<i1>, %b: tensor<i1>) {
    %2 = stablehlo.or %a, %b : tensor<i1>
    %3 = stablehlo.select %2, %true, %false : tensor<i1>, tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }
  %1 = stablehlo.reduce(%y init: %zero) across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %2 = stablehlo.maximum %a, %b : tensor<f32>
    %3 = stablehlo.minimum %2, %half : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0, %1 : tensor<3xi1>, tensor<3xf32>
}"""


def test_a_region_reads_constants_of_the_function_around_it():
    (flags, numbers), results = ran(_READS_CONSTANTS)
    assert torch.equal(results[0], flags.any(1))
    assert torch.equal(results[1], torch.clamp(numbers.amax(1), 0.0, 0.5))
    assert_runs_alike(_READS_CONSTANTS)
    assert "ttir.reduce_or" in converted(_READS_CONSTANTS)


def test_a_module_of_one_op_has_the_constants_that_its_regions_read():
    (module,) = parse_texts(_READS_CONSTANTS, "text.mlir")
    for op in [each for each in module.walk() if each.name == "stablehlo.reduce"]:
        ran(op_text(module_of_op(op)))


COPIES = {
    "copy": '%out = mhlo.copy %x {mhlo.sharding = "{replicated}"} : tensor<4x6xbf16>',
    "override": "%out = stablehlo.custom_call @tt.weight_dtype_override(%x) {api_version = 0 : i32, "
    'mhlo.frontend_attributes = {dtype = "bfp_bf8"}} : (tensor<4x6xbf16>) -> tensor<4x6xbf16>',
}


@pytest.mark.parametrize("line", COPIES.values(), ids=COPIES.keys())
def test_what_says_where_or_how_a_tensor_is_kept_changes_no_number(line):
    (given,), (found,) = ran(of_ops({"x": "4x6xbf16"}, [line], "4x6xbf16"))
    assert torch.equal(given, found)


def test_a_custom_call_of_sampling_draws_one_of_the_candidates():
    line = (
        "%out = stablehlo.custom_call @tt.sampling(%v, %i, %k, %p, %t) {api_version = 0 : i32, "
        'mhlo.frontend_attributes = {seed = "3"}} : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<2xui32>, tensor<2xf32>, '
        "tensor<2xf32>) -> tensor<2xi32>"
    )
    kinds = {"v": "2x8xf32", "i": "2x8xi32", "k": "2xui32", "p": "2xf32", "t": "2xf32"}
    values, index = torch.randn(2, 8), torch.randperm(16).reshape(2, 8).int()
    given = [values, index, torch.ones(2, dtype=torch.uint32), torch.ones(2), torch.ones(2)]
    _, (found,) = ran(of_ops(kinds, [line], "2xi32"), given)
    assert found.tolist() == index.gather(1, values.argmax(1, keepdim=True)).reshape(-1).tolist()


@pytest.mark.parametrize(
    "attributes",
    ['backend_config = "{\\22k\\22: 3, \\22dim\\22: -1}"', "mhlo.attributes = {k = 3 : i64, largest = true}"],
    ids=["json", "dictionary"],
)
def test_a_custom_call_has_its_attributes_in_a_dictionary_or_as_json(attributes):
    lines = [
        f"%out, %i = stablehlo.custom_call @mhlo.topk(%x) {{{attributes}}} : (tensor<4x8xf32>) ->"
        " (tensor<4x3xf32>, tensor<4x3xi32>)"
    ]
    (x,), (found,) = ran(of_ops({"x": "4x8xf32"}, lines, "4x3xf32"))
    assert torch.equal(found, torch.topk(x, 3).values)


def test_a_custom_call_whose_configuration_is_in_another_language_is_refused():
    line = (
        '%out, %i = stablehlo.custom_call @mhlo.topk(%x) {backend_config = "k: 3"} : (tensor<4x8xf32>) ->'
        " (tensor<4x3xf32>, tensor<4x3xi32>)"
    )
    with pytest.raises(CompileError, match="`backend_config` is no JSON object, and may say `k`"):
        ran(of_ops({"x": "4x8xf32"}, [line], "4x3xf32"))


def test_a_custom_call_normalizes_rows_that_devices_share():
    text = """
    module {
      sdy.mesh @mesh = <["y"=1, "x"=2]>
      func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
        %0 = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}]>]
            out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"} (%a: tensor<4x4xf32>, %b: tensor<4xf32>) {
          %1 = stablehlo.custom_call @tenstorrent.distributed_rms_norm(%a, %b) {tt.composite_attributes =
              {cluster_axis = 1 : i32, epsilon = 1.0e-6 : f32}} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
          sdy.return %1 : tensor<4x4xf32>
        } : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
        return %0 : tensor<4x8xf32>
      }
    }
    """
    (x, weight), (found,) = ran(text)
    wanted = torch.nn.functional.rms_norm(x.double(), (8,), weight.double(), 1e-6)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-6)
