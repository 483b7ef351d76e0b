"""Complex numbers and random bits of StableHLO run, and the pass to TTIR leaves modules that compute the same.

tests/oracle/test_complex_against_jax.py compares them with XLA.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.end_to_end.texts.converted_texts import assert_runs_alike, converted, loaded, of_ops, ran
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.tools.cli import main

KIND = "3x5xcomplex<f32>"
UNARY = """
cosine sine exponential exponential_minus_one log log_plus_one logistic rsqrt sqrt tanh negate sign
"""


def test_functions_of_one_operand():
    names = UNARY.split()
    lines = [f"%v{at} = stablehlo.{name} %x : tensor<{KIND}>" for at, name in enumerate(names)]
    shape = f"{len(names) * 3}x5xcomplex<f32>"
    values = ", ".join(f"%v{at}" for at in range(len(names)))
    types = ", ".join([f"tensor<{KIND}>"] * len(names))
    ran(
        of_ops(
            {"x": KIND},
            [*lines, f"%out = stablehlo.concatenate {values}, dim = 0 : ({types}) -> tensor<{shape}>"],
            shape,
        )
    )


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power"])
def test_arithmetic(name, element):
    kind = f"3x5xcomplex<{element}>"
    ran(of_ops({"x": kind, "y": kind}, [f"%out = stablehlo.{name} %x, %y : tensor<{kind}>"], kind))


FLOATS = "3x5xf32"
LINES = {
    "parts": (
        [
            f"%r = stablehlo.real %x : (tensor<{KIND}>) -> tensor<{FLOATS}>",
            f"%i = stablehlo.imag %x : (tensor<{KIND}>) -> tensor<{FLOATS}>",
            f"%m = stablehlo.abs %x : (tensor<{KIND}>) -> tensor<{FLOATS}>",
            f"%s = stablehlo.add %r, %m : tensor<{FLOATS}>",
            f"%z = stablehlo.complex %s, %i : tensor<{KIND}>",
            f"%out = chlo.conj %z : tensor<{KIND}> -> tensor<{KIND}>",
        ],
        KIND,
    ),
    "moves": (
        [
            "%c = stablehlo.constant dense<[(1.0, -2.0), (0.5, 3.0)]> : tensor<2xcomplex<f32>>",
            "%b = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<2xcomplex<f32>>) -> tensor<2x5xcomplex<f32>>",
            f"%j = stablehlo.concatenate %x, %b, dim = 0 : (tensor<{KIND}>, tensor<2x5xcomplex<f32>>) "
            "-> tensor<5x5xcomplex<f32>>",
            "%t = stablehlo.transpose %j, dims = [1, 0] : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>",
            "%s = stablehlo.slice %t [0:5, 1:4] : (tensor<5x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>",
            "%n = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>",
            "%p = stablehlo.pad %s, %n, low = [1, 0], high = [0, 2], interior = [0, 1] : "
            "(tensor<5x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6x7xcomplex<f32>>",
            "%out = stablehlo.reshape %p : (tensor<6x7xcomplex<f32>>) -> tensor<42xcomplex<f32>>",
        ],
        "42xcomplex<f32>",
    ),
    "sums": (
        [
            "%n = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>",
            f"%d = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<{KIND}>, tensor<{KIND}>) "
            "-> tensor<3x3xcomplex<f32>>",
            "%out = stablehlo.reduce(%d init: %n) applies stablehlo.add across dimensions = [0] : "
            "(tensor<3x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>",
        ],
        "3xcomplex<f32>",
    ),
    "comparisons": (
        [f"%out = stablehlo.compare NE, %x, %x : (tensor<{KIND}>, tensor<{KIND}>) -> tensor<3x5xi1>"],
        "3x5xi1",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_the_pass_writes_complex_numbers_as_pairs_of_floats(name):
    lines, result = LINES[name]
    assert_runs_alike(of_ops({"x": KIND}, lines, result))


@pytest.mark.parametrize("name", ["maximum", "remainder", "atan2"])
def test_what_has_no_complex_numbers_is_refused_by_name(name):
    text = of_ops(
        {"x": KIND}, [f'%out = "stablehlo.{name}"(%x, %x) : (tensor<{KIND}>, tensor<{KIND}>) -> tensor<{KIND}>'], KIND
    )
    with pytest.raises(CompileError, match=f"`stablehlo.{name}`: it does not compute with complex numbers"):
        loaded(text).program("main")


def test_inputs_and_results_of_the_command_line_are_complex(tmp_path):
    file, inputs, results = (tmp_path / name for name in ("text.mlir", "inputs.npz", "results.pt"))
    file.write_text(of_ops({"x": KIND}, [f"%out = stablehlo.negate %x : tensor<{KIND}>"], KIND))
    given = (np.arange(15) * (1 - 2j)).reshape(3, 5).astype(np.complex64)
    np.savez(inputs, given)
    assert main(["run", str(file), "--inputs", str(inputs), "--save", str(results), "--golden"]) == 0
    (found,) = torch.load(results)
    assert torch.equal(found, -torch.from_numpy(given))


BITS = """
func.func @main(%s: tensor<SIZExui64>) -> (tensor<SIZExui64>, tensor<KIND>) {
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm ALGORITHM>}>
    : (tensor<SIZExui64>) -> (tensor<SIZExui64>, tensor<KIND>)
  return %0#0, %0#1 : tensor<SIZExui64>, tensor<KIND>
}
"""


@pytest.mark.parametrize(
    ("algorithm", "size", "kind"),
    [
        ("THREE_FRY", 2, "3x4xui32"),
        ("THREE_FRY", 2, "5xi8"),
        ("THREE_FRY", 2, "3xui64"),
        ("THREE_FRY", 2, "ui32"),
        ("PHILOX", 3, "3x3xui32"),
        ("DEFAULT", 2, "3xi64"),
        ("PHILOX", 2, "7xui16"),
    ],
)
def test_random_bits_are_those_of_their_golden_also_where_a_counter_overflows(algorithm, size, kind):
    text = BITS.replace("SIZE", str(size)).replace("KIND", kind).replace("ALGORITHM", algorithm)
    state = torch.tensor([2**62 + 12345, -2, -1][:size]).view(torch.uint64)
    _, (after, _) = ran(text, [state])
    assert after.view(torch.int64).tolist()[0] == 2**62 + 12345


def test_philox_gives_the_numbers_of_its_paper():
    """The known answers of Random123 for keys and counters of zeros and of ones."""
    text = BITS.replace("SIZE", "3").replace("KIND", "4xui32").replace("ALGORITHM", "PHILOX")
    for number, wanted in {
        0: (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        -1: (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    }.items():
        _, (_, bits) = ran(text, [torch.full((3,), number).view(torch.uint64)])
        assert tuple(bits.tolist()) == wanted


def test_three_fry_gives_the_numbers_of_its_paper():
    text = BITS.replace("SIZE", "2").replace("KIND", "2xui32").replace("ALGORITHM", "THREE_FRY")
    for number, wanted in {0: (0x6B200159, 0x99BA4EFE), -1: (0x1CB996FC, 0xBB002BE7)}.items():
        _, (_, bits) = ran(text, [torch.full((2,), number).view(torch.uint64)])
        assert tuple(bits.tolist()) == wanted


def fft_text(kind, shape, lengths, element="f32"):
    """A text of one transform of an operand of the extents of the result, or half of the last one."""
    half = (*shape[:-1], shape[-1] // 2 + 1)
    given = {"RFFT": (shape, element), "IRFFT": (half, f"complex<{element}>")}.get(kind, (shape, f"complex<{element}>"))
    made = {"RFFT": (half, f"complex<{element}>"), "IRFFT": (shape, element)}.get(kind, (shape, f"complex<{element}>"))
    operand, result = ("x".join([*map(str, extents), each]) for extents, each in (given, made))
    listed = ", ".join(map(str, lengths))
    line = f"%out = stablehlo.fft %x, type = {kind}, length = [{listed}] : (tensor<{operand}>) -> tensor<{result}>"
    return of_ops({"x": operand}, [line], result)


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize(
    ("shape", "lengths"),
    [
        ((3, 1), 1),
        ((2,), 1),
        ((2, 37), 1),
        ((2, 96), 1),
        ((2, 1024), 1),
        ((2, 5, 6), 2),
        ((3, 4, 9), 3),
        ((2, 67, 40), 2),
    ],
)
def test_fourier_transforms_are_those_of_numpy(kind, shape, lengths):
    (given,), (found,) = ran(fft_text(kind, shape, shape[-lengths:]))
    given, found = (
        torch.view_as_complex(each).numpy() if complex_ else each.numpy()
        for each, complex_ in ((given, kind != "RFFT"), (found, kind != "IRFFT"))
    )
    axes = tuple(range(-lengths, 0))
    of_numpy = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn}.get(kind)
    wide = given.astype(np.float64 if kind == "RFFT" else np.complex128)
    wanted = np.fft.irfftn(wide, shape[-lengths:], axes) if of_numpy is None else of_numpy(wide, axes=axes)
    assert found.dtype == (np.float32 if kind == "IRFFT" else np.complex64)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6 * np.sqrt(np.mean(np.abs(wanted) ** 2)))


def test_fourier_transforms_of_64_bits_are_exact_to_these():
    (given,), (found,) = ran(fft_text("FFT", (2, 100), (100,), "f64"))
    wanted = np.fft.fft(torch.view_as_complex(given).numpy())
    np.testing.assert_allclose(torch.view_as_complex(found).numpy(), wanted, rtol=0, atol=1e-13)


def test_the_pass_writes_fourier_transforms_as_products():
    text = fft_text("RFFT", (2, 48), (48,))
    assert_runs_alike(text)
    assert "ttir.matmul" in converted(text)


@pytest.mark.parametrize(
    ("length", "message"),
    [(2 * 1031, "a length with the prime 1,031: at most 1,024"), (1 << 17, "a length of 131,072: at most 65,536")],
)
def test_long_fourier_transforms_are_refused(length, message):
    with pytest.raises(CompileError, match=message) as caught:
        loaded(fft_text("FFT", (length,), (length,))).program("main")
    assert caught.value.location.line == 2
