"""Element types of texts stay what they are: each op in each type agrees with its golden, and nothing is collapsed."""

import math

import numpy as np
import pytest
import torch

from tests.end_to_end.texts.test_ops_of_texts import checked, loaded, module_of
from ttnn_jit.diagnostics.errors import CompileError, DTypeError
from ttnn_jit.frontend.ir.lowered_text import Argument
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main

FLOATS = """
    %0 = "ttir.add"(%a, %b) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %1 = "ttir.exp"(%0) : (tensor<5x7xT>) -> tensor<5x7xT>
    %2 = "ttir.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x7xT>) -> tensor<5x1xT>
    %3 = "ttir.div"(%1, %2) : (tensor<5x7xT>, tensor<5x1xT>) -> tensor<5x7xT>
    %4 = "ttir.transpose"(%3) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<5x7xT>) -> tensor<7x5xT>
    %5 = "ttir.matmul"(%3, %4) : (tensor<5x7xT>, tensor<7x5xT>) -> tensor<5x5xT>
    %6 = "ttir.softmax"(%5) <{dimension = 1 : si32, numericStable = true}> : (tensor<5x5xT>) -> tensor<5x5xT>
    %7 = "ttir.lt"(%a, %b) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xi1>
    %8 = "ttir.where"(%7, %a, %3) : (tensor<5x7xi1>, tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %9 = "ttir.matmul"(%6, %8) : (tensor<5x5xT>, tensor<5x7xT>) -> tensor<5x7xT>
"""
INTEGERS = """
    %0 = "ttir.add"(%a, %b) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %1 = "ttir.multiply"(%0, %b) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %2 = "ttir.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x7xT>) -> tensor<5x1xT>
    %3 = "ttir.div"(%1, %2) : (tensor<5x7xT>, tensor<5x1xT>) -> tensor<5x7xT>
    %4 = "ttir.max"(%1) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<5x7xT>) -> tensor<1x7xT>
    %5 = "ttir.minimum"(%1, %4) : (tensor<5x7xT>, tensor<1x7xT>) -> tensor<5x7xT>
    %6 = "ttir.remainder"(%5, %3) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %7 = "ttir.gt"(%a, %6) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xi1>
    %8 = "ttir.where"(%7, %a, %6) : (tensor<5x7xi1>, tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %10 = "ttir.typecast"(%8) : (tensor<5x7xT>) -> tensor<5x7xf32>
    %11 = "ttir.logical_right_shift"(%8, %c) : (tensor<5x7xT>, tensor<1x7xT>) -> tensor<5x7xT>
    %12 = "ttir.bitwise_xor"(%11, %b) : (tensor<5x7xT>, tensor<5x7xT>) -> tensor<5x7xT>
    %9 = "ttir.bitwise_not"(%12) : (tensor<5x7xT>) -> tensor<5x7xT>
"""


def program(body, element):
    arguments = "%a: tensor<5x7xT>, %b: tensor<5x7xT>"
    if body is INTEGERS:
        body = '    %c = "ttir.constant"() <{value = dense<3> : tensor<1x7xT>}> : () -> tensor<1x7xT>' + body
    text = f"func.func @main({arguments}) -> tensor<5x7xT> {{\n{body}    return %9 : tensor<5x7xT>\n}}"
    return text.replace("xT>", f"x{element}>")


@pytest.mark.parametrize("element", ["f16", "f64"])
def test_floats_agree_with_their_goldens(element):
    (result,) = checked(loaded(program(FLOATS, element)))
    assert result.dtype is {"f16": torch.float16, "f64": torch.float64}[element]


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "i64", "ui64"])
def test_integers_agree_with_their_goldens(element):
    (result,) = checked(loaded(program(INTEGERS, element)))
    name = element.replace("ui", "uint") if element.startswith("u") else element.replace("i", "int")
    assert result.dtype is getattr(torch, name)


def unary(op, element, result=None, constant=None):
    shape = f"tensor<4x{element}>"
    number = (
        "" if constant is None else f'%k = "ttir.constant"() <{{value = dense<{constant}> : {shape}}}> : () -> {shape}'
    )
    operands, types = ("%a", shape) if constant is None else ("%a, %k", f"{shape}, {shape}")
    made = f"tensor<4x{result or element}>"
    return loaded(
        f'func.func @main(%a: {shape}) -> {made} {{\n{number}\n%0 = "ttir.{op}"({operands}) : ({types}) -> {made}\n'
        f"return %0 : {made}\n}}"
    )


@pytest.mark.parametrize(
    ("module", "given", "wanted"),
    [
        # 0.1 is no float32, 2**40 and 2**64 - 2 no integers of 32 bits.
        (
            unary("multiply", "f64", constant="0.1"),
            torch.tensor([1.0, 3.0, 1e300, -7.0], dtype=torch.float64),
            lambda x: x * 0.1,
        ),
        (unary("add", "i64", constant=2**40), torch.tensor([2**62, -1, 0, 2**63 - 1]), lambda x: x + 2**40),
        (
            unary("maximum", "ui64", constant=2**64 - 2),
            torch.tensor([2**64 - 1, 2**63, 0, 7], dtype=torch.uint64),
            lambda _: torch.tensor([2**64 - 1, *[2**64 - 2] * 3], dtype=torch.uint64),
        ),
        (
            unary("typecast", "ui64", "f64"),
            torch.tensor([2**64 - 1, 2**63 + 1, 2**53 + 1, 7], dtype=torch.uint64),
            lambda _: torch.tensor([2.0**64, 2.0**63, 2.0**53, 7.0], dtype=torch.float64),
        ),
        (  # one rounding to a half: 1 + 2**-11 + 2**-40 is above the tie that a float32 would make
            unary("typecast", "f64", "f16"),
            torch.tensor([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 65520.0, 2.0**-25], dtype=torch.float64),
            lambda _: torch.tensor([1 + 2.0**-10, 1.0, math.inf, 0.0]).half(),
        ),
        (unary("add", "i8", constant=100), torch.tensor([100, -128, 0, 27], dtype=torch.int8), lambda x: x + 100),
        (unary("add", "f16", constant="1.0"), torch.tensor([2048.0, 2050.0, 65504.0, 6e-8]).half(), lambda x: x + 1),
    ],
)
def test_no_number_is_collapsed_to_a_narrower_type(module, given, wanted):
    (result,) = module.program("main")(given)
    assert torch.equal(result, wanted(given))


FUNCTIONS = {
    "exp": (-700.0, 700.0), "expm1": (-2.0, 2.0), "log": (1e-3, 1e3), "log1p": (-0.5, 2.0), "sin": (-30.0, 30.0),
    "cos": (-30.0, 30.0), "tanh": (-3.0, 3.0), "sigmoid": (-40.0, 40.0), "erf": (-3.0, 3.0), "erfc": (-2.0, 20.0),
    "erfinv": (-0.999, 0.999), "rsqrt": (1e-3, 1e3), "cbrt": (-10.0, 10.0), "atan": (-9.0, 9.0), "gelu": (-5.0, 9.0),
    "silu": (-30.0, 30.0), "asinh": (-9.0, 9.0),
}  # fmt: skip


def exact(mp, name, x):
    made = {
        "sigmoid": lambda: 1 / (1 + mp.exp(-x)),
        "silu": lambda: x / (1 + mp.exp(-x)),
        "gelu": lambda: x * mp.erfc(-x / mp.sqrt(2)) / 2,
        "rsqrt": lambda: 1 / mp.sqrt(x),
        "cbrt": lambda: mp.sign(x) * mp.cbrt(abs(x)),
    }
    return made[name]() if name in made else getattr(mp, name)(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_float64_are_within_two_units(name):
    from mpmath import mp

    from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
    from ttnn_jit.specs.dtype_traits import ComputeType

    mp.prec = 200
    x = np.random.default_rng(0).uniform(*FUNCTIONS[name], 60)
    got = getattr(NumpyVector().arithmetic(ComputeType.F64), name)(x)
    for value, own in zip(x, got, strict=True):
        wanted = exact(mp, name, mp.mpf(float(value)))
        assert abs(mp.mpf(float(own)) - wanted) <= 2 * np.spacing(abs(float(wanted))), (value, own, wanted)


def test_native_code_computes_in_float64_what_the_interpreter_computes():
    from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
    from ttnn_jit.specs.dtype_traits import ComputeType

    x = torch.linspace(-0.9, 0.9, 37, dtype=torch.float64)
    math_ = NumpyVector().arithmetic(ComputeType.F64)
    names = ["exp", "tanh", "sigmoid", "erf", "atan", "silu"]
    body = "\n".join(f'%{k} = "ttir.{name}"(%a) : (tensor<37xf64>) -> tensor<37xf64>' for k, name in enumerate(names))
    types = ", ".join(["tensor<37xf64>"] * len(names))
    values = ", ".join(f"%{k}" for k in range(len(names)))
    text = f"func.func @main(%a: tensor<37xf64>) -> ({types}) {{\n{body}\nreturn {values} : {types}\n}}"
    for name, result in zip(names, loaded(text).program("main")(x), strict=True):
        np.testing.assert_array_equal(result.numpy(), getattr(math_, name)(x.numpy()))


@pytest.mark.parametrize("element", ["f16", "f64", "ui64"])
def test_every_tool_takes_the_type(tmp_path, capsys, element):
    file, inputs, saved = tmp_path / "a.mlir", tmp_path / "inputs.npz", tmp_path / "results.pt"
    file.write_text(program(INTEGERS if element == "ui64" else FLOATS, element))
    random = np.random.default_rng(0)
    if element == "ui64":
        arrays = [random.integers(1, 2**64 - 1, (5, 7), dtype=np.uint64) for _ in range(2)]
    else:
        arrays = [random.standard_normal((5, 7)).astype(f"float{element[1:]}") for _ in range(2)]
    np.savez(inputs, *arrays)
    assert main(["run", str(file), "--inputs", str(inputs), "--save", str(saved), "--golden"]) == 0
    (result,) = torch.load(saved)
    assert result.dtype is {"f16": torch.float16, "f64": torch.float64, "ui64": torch.uint64}[element]
    assert main(["compare", str(file), str(file)]) == 0
    assert f"{element}[5, 7]: equal" in capsys.readouterr().out
    assert main(["bisect", str(file), "-o", str(tmp_path / "wrong.mlir")]) == 0


def test_attention_of_float64_is_computed_in_float64():
    shape, mask = "tensor<1x2x4x8xf64>", "tensor<1x1x4x4xf64>"
    text = f"""
      func.func @main(%q: {shape}, %k: {shape}, %v: {shape}, %m: {mask}) -> {shape} {{
        %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v, %m)
          <{{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}}>
          : ({shape}, {shape}, {shape}, {mask}) -> {shape}
        return %0 : {shape}
      }}"""
    checked(loaded(text))


def test_what_is_not_computed_in_float64_is_refused_and_not_computed_in_less():
    with pytest.raises(CompileError, match="`tril` does not take FLOAT64 tensors"):
        unary("tril", "f64").program("main")


def test_no_cast_narrows_a_step_among_floats_of_64_bits():
    from ttnn_jit.frontend.ir.lowering import FunctionLowering
    from ttnn_jit.frontend.ir.ops_of_text import computed
    from ttnn_jit.ops.families.text_operation import TextCall, text
    from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, Layout, TensorSpec

    spec = TensorSpec((4,), DataType.FLOAT64, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG)
    lowering = FunctionLowering({}, PRESETS["cpu"], "main")
    x = lowering.input(Argument(0), spec)
    narrow = text("test.op", "x", lambda ops, call: ops.exp(ops.typecast(call.x, DataType.FLOAT32)), lambda *_: None)
    with pytest.raises(DTypeError, match="a step of it is computed in f32"):
        computed(x.ops, narrow, TextCall({"x": x}, (spec,)), [x])


def test_unsigned_goldens_are_those_of_python():
    from ttnn_jit.golden.unsigned_tensors import plain, unsigned

    numbers = [2**64 - 1, 2**63, 2**63 - 1, 5, 1, 0]
    others = [3, 2**64 - 2, 2**63, 5, 7, 2**62]
    x, y = (unsigned(torch.tensor(each, dtype=torch.uint64)) for each in (numbers, others))
    for mine, python in (
        (lambda: x + y, lambda a, b: (a + b) % 2**64),
        (lambda: x * y, lambda a, b: a * b % 2**64),
        (lambda: torch.div(x, y, rounding_mode="trunc"), lambda a, b: a // b),
        (lambda: torch.remainder(x, y), lambda a, b: a % b),
        (lambda: torch.maximum(x, y), max),
        (lambda: x >> torch.full_like(plain(x), 3), lambda a, _: a >> 3),
        (lambda: x < y, lambda a, b: a < b),
        (lambda: torch.where(x >= y, x, y), max),
        (lambda: x == -1, lambda *_: False),
        (lambda: x.double(), lambda a, _: float(a)),
    ):
        found = plain(mine())
        found = found.view(torch.uint64) if found.dtype is torch.int64 else found
        assert found.tolist() == [python(a, b) for a, b in zip(numbers, others, strict=True)]


def test_a_result_that_is_rounded_to_float32_first_is_right():
    module = loaded("""
    func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xbf16>) -> tensor<4096xbf16> {
      %0 = "ttir.multiply"(%x, %y) : (tensor<4096xf32>, tensor<4096xbf16>) -> tensor<4096xbf16>
      return %0 : tensor<4096xbf16>
    }""")
    y = torch.linspace(1, 2, 4096).bfloat16()
    halfway = 1 + (2 * (torch.arange(4096) % 128) + 1) / 256
    x = (halfway.double() / y).float()  # the product is rounded to a number between two of bfloat16
    x[0] = torch.nan  # so that the result does not equal its golden, which torch rounds twice too
    got = module.program("main")(x, y)[0]
    units = (got.double() - x.double() * y.double()).abs() * 128
    assert 0.5 < units.nan_to_num().max() < 0.5 + 2.0**-16
    assert all(each.matches for each in GoldenRun(module, "main", [x, y]).compared())


def test_a_chip_rounds_every_op_and_its_goldens_allow_that():
    checked(loaded(module_of("ttir.add : 3x8xbf16, 3x8xbf16 -> 3x8xbf16"), target="wormhole_b0"))


@pytest.mark.parametrize("activation", ["", ', activation = "gelu"'])
def test_a_product_on_a_chip_is_allowed_the_rounding_of_its_sum_and_no_more(activation, monkeypatch):
    attributes = f"transpose_a = false, transpose_b = false{activation}"
    op = f"ttnn.linear {{{attributes}}} : 16x2048xbf16, 2048x64xbf16, 1x64xbf16 -> 16x64xbf16"
    module = loaded(module_of(op), target="wormhole_b0")
    checked(module)
    golden = torch.matmul
    monkeypatch.setattr(
        torch, "matmul", lambda a, b: golden(a, b) + (a.shape[-1] > 32) * 0.2 * golden(a.abs(), b.abs())
    )
    with pytest.raises(AssertionError):
        checked(module)
