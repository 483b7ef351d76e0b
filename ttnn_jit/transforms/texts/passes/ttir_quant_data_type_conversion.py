"""ttir-quant-data-type-conversion: quantized integers get the width of a chip's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.ops.texts.quantized_texts import Quantization
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRQuantDataTypeConversion(TextPass):
    """The storage type of every `!quant.uniform` becomes an integer of another width.

    Attributes:
        target_bit_width: 8, 16, 32 or 64.
        keep_levels: Whether elements keep the levels of their type, ``i32<-128:127>`` of ``i8``: results stay the same.
            Otherwise they have all levels of the new type, as upstream's pass says, and large numbers are not clipped.
    """

    name = "ttir-quant-data-type-conversion"

    target_bit_width: int = 32
    keep_levels: bool = False

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Converts the types of a module."""
        if self.target_bit_width not in {8, 16, 32, 64}:
            raise CompileError(
                "Invalid quantization bit width (must be 8, 16, 32, or 64). ", location=location_of(module)
            )
        for op in module.walk():
            arguments = [each for region in op.regions for block in region.blocks for each in block.args]
            for value in (*op.results, *arguments):
                type_ = self._converted(value.type, module)
                if type_ != value.type:
                    value._type = type_
                    rewriter.changes += 1
            if isinstance(op, FuncOp):
                types = op.function_type
                op.function_type = FunctionType.from_lists(
                    [self._converted(each, module) for each in types.inputs],
                    [self._converted(each, module) for each in types.outputs],
                )

    def _converted(self, type_: Attribute, module: ModuleOp) -> Attribute:
        if not isinstance(type_, TensorType):
            return type_
        text = str(type_.get_element_type())
        match = re.match(r"!quant\.uniform<(?P<sign>[iu])(?P<width>\d+)(<[^>]*>)?", text)
        if match is None:
            return type_
        width = int(match["width"])
        if width > self.target_bit_width:
            raise CompileError(
                f"Target integer type of width {self.target_bit_width} is smaller than quantized type of width "
                f"{width}. Out of range.",
                location=location_of(module),
            )
        if width == self.target_bit_width:
            return type_
        levels = "<{}:{}>".format(*Quantization.of(text).levels) if self.keep_levels else ""
        element = parsed_type(f"!quant.uniform<i{self.target_bit_width}{levels}{text[match.end() :]}")
        return TensorType(element, type_.get_shape(), type_.encoding)
