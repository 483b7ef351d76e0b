"""Ops of StableHLO that call, choose or repeat regions; random numbers; and those that TTIR has no counterpart of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion, refused
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall, TextOperation, TextOps
from ttnn_jit.ops.texts.quantized_texts import DEQUANTIZE, QUANTIZE, REQUANTIZE


def _not_in_ttir(*_: Any) -> Any:
    raise ShapeError("TTIR has no control flow: it has no counterpart there")


def _only_regions(*_: Any) -> Any:
    raise AssertionError("its regions are run")


COMPOSITE = conversion(
    "stablehlo.composite",
    "inputs*",
    _not_in_ttir,
    _only_regions,
    role=Role.CALLS,
    name="",
    decomposition=REQUIRED,
    composite_attributes=None,
    version=0,
)
CHOICE = conversion("stablehlo.case stablehlo.if", "index", _not_in_ttir, _only_regions, role=Role.CHOOSES)
LOOP = conversion("stablehlo.while", "operands*", _not_in_ttir, _only_regions, role=Role.REPEATS)


def _drawn(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Uniform numbers between two that the text says."""
    low, high = call.number("a"), call.number("b")
    if call.rng_distribution != "UNIFORM" or low is None or high is None:
        raise ShapeError("uniform numbers between two constants are drawn, and no others")
    shape = call.result.shape
    return ops.op("ttir.rand", [], shape, call.result.element, size=shape, low=float(low), high=float(high))


RNG = conversion(
    "stablehlo.rng",
    "a b shape",
    _drawn,
    lambda torch, call: torch.zeros(tuple(call.result.shape)),
    is_random=True,
    rng_distribution=REQUIRED,
)


def _quantized(names: str, ttir: str, of_text: TextOperation) -> Conversion:
    """A change between numbers and levels, or between levels, which only the element types of the text describe."""

    def is_change_of_levels(call: TextCall) -> bool:
        types = call.element_types
        return all(types[name].startswith("!quant") for name in ("input", "result"))

    def convert(ops: TtirOps, call: ConversionCall) -> Tensor:
        kind = call.result
        return ops.op("ttir.requantize" if is_change_of_levels(call) else ttir, [call.input], kind.shape, kind.element)

    def write(ops: TextOps, call: TextCall) -> Any:
        return (REQUANTIZE if is_change_of_levels(call) else of_text).write(ops, call)

    def golden(torch: Any, call: TextCall) -> Any:
        return (REQUANTIZE if is_change_of_levels(call) else of_text).golden(torch, call)

    def limit(call: TextCall) -> int | None:
        return REQUANTIZE.index_limits["input"](call) if call.element_types["input"].startswith("!quant") else None

    made = conversion(names, "input", convert, golden, takes_quantized=True, in_float32=of_text.in_float32)
    return replace(made, write=write, golden=golden, index_limits={"input": limit})


QUANTIZE_LEVELS = _quantized("stablehlo.uniform_quantize", "ttir.quantize", QUANTIZE)
DEQUANTIZE_LEVELS = _quantized("stablehlo.uniform_dequantize", "ttir.dequantize", DEQUANTIZE)

REFUSED = (
    refused(
        "stablehlo.cholesky stablehlo.triangular_solve",
        "TTIR does not factor or solve matrices",
    ),
    refused(
        "stablehlo.infeed stablehlo.outfeed stablehlo.send stablehlo.recv stablehlo.create_token stablehlo.after_all "
        "stablehlo.async_start stablehlo.async_done",
        "nothing is exchanged with a host or another program while a program runs",
    ),
    refused(
        "stablehlo.dynamic_conv stablehlo.dynamic_gather stablehlo.dynamic_pad stablehlo.real_dynamic_slice "
        "stablehlo.set_dimension_size",
        "its extents are known only when the program runs",
    ),
)

TEXTS = (COMPOSITE, CHOICE, LOOP, RNG, QUANTIZE_LEVELS, DEQUANTIZE_LEVELS, *REFUSED)
