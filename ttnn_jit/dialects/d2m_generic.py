"""`d2m.generic`: one kernel, its operands, iteration space and compute region."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntegerAttr,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.d2m_reductions import TileContractOp, TileReduceOp
from ttnn_jit.dialects.foreign_rules import require_parallel_output, require_projection
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.ttcore import GridAttr, IteratorTypeAttr, KeywordAttr
from ttnn_jit.dialects.writing.creation import SEGMENTS, QuickOperation, segments
from ttnn_jit.dialects.writing.direct_access import op_definition
from ttnn_jit.specs.tiles import tile_extents


@irdl_attr_definition
class ThreadAttr(KeywordAttr):
    """``#d2m.thread<compute>``: the core's thread that runs a region."""

    name = "d2m.thread"
    keywords = ("unified", "compute", "datamovement")


@irdl_attr_definition
class CBType(ParametrizedAttribute, TypeAttribute):
    """``!d2m.cb<memref<...>>``: a circular buffer that holds one core's shard of a tensor."""

    name = "d2m.cb"

    underlying: MemRefType[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """A memref type between angle brackets."""
        with parser.in_angle_brackets():
            return (parser.parse_type(),)


@op_definition
class GenericOp(QuickOperation, IRDLOperation):
    """A kernel: inputs, outputs, and one core's work as a region over circular buffers.

    The region's arguments are one circular buffer per operand, inputs then outputs.
    """

    name = "d2m.generic"

    inputs = var_operand_def()
    outputs = var_operand_def()
    block_factors = prop_def(ArrayAttr[IntegerAttr])
    grid = prop_def(GridAttr)
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr[IteratorTypeAttr])
    threads = prop_def(ArrayAttr[ThreadAttr])
    body = region_def("single_block")
    results_ = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator())

    @property
    def canonical_kernel(self) -> GenericOp:
        """The kernel that is lowered in place of this one: itself, or an earlier equal one (`set_canonical_kernel`)."""
        kernel: GenericOp = vars(self).get("_canonical_kernel", self)
        return kernel

    def set_canonical_kernel(self, other: GenericOp, numbers: Sequence[Sequence[float]] = ()) -> None:
        """Makes the equal kernel `other` the one that is lowered; the text of the op does not show it.

        Args:
            other: The kernel.
            numbers: The numbers of this kernel, if they are others: entry k is of the op of `other` whose attribute
                `NUMBERED` is k.
        """
        self._canonical_kernel, self._numbers = other, numbers

    @property
    def own_numbers(self) -> Sequence[Sequence[float]]:
        """The numbers of this kernel, if its `canonical_kernel` has others (`set_canonical_kernel`)."""
        numbers: Sequence[Sequence[float]] = vars(self).get("_numbers", ())
        return numbers

    @property
    def form(self) -> Hashable | None:
        """Its form, if the compile asked for it (`set_form`)."""
        form: Hashable | None = vars(self).get("_form")
        return form

    @property
    def known_reading(self) -> object | None:
        """What the code generator has read of a kernel of this form; a kernel that has it is not lowered."""
        return vars(self).get("_known_reading")

    @property
    def form_numbers(self) -> Sequence[Sequence[float]]:
        """The numbers of this kernel, which are no part of its form, in the order of `NUMBERED`."""
        numbers: Sequence[Sequence[float]] = vars(self).get("_form_numbers", ())
        return numbers

    def set_form(self, form: Hashable, numbers: Sequence[Sequence[float]]) -> None:
        """Sets its form and numbers, and its reading if that is known; the text of the op shows none of them."""
        self._form, self._form_numbers, self._known_reading = form, numbers, known_reading(form)

    @property
    def buffers(self) -> list[CBType]:
        """The types of the region's arguments."""
        return [argument.type for argument in self.body.block.args if isinstance(argument.type, CBType)]

    def argument_stem(self) -> str:
        """The stem of the region's argument names, ``cb``; each is followed by its index."""
        return "cb"

    def block_label(self) -> str:
        """The label of the region's block: its thread and index."""
        return f"{self.threads.data[0].data}0"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """``{properties and attributes} ins(...) outs(...) region : types``."""
        position = parser.pos
        attributes = parser.parse_optional_attr_dict()
        properties = {name: attributes.pop(name) for name in PRINTED_PROPERTIES if name in attributes}
        if missing := [name for name in PRINTED_PROPERTIES if name not in properties]:
            parser.raise_error(f"d2m.generic needs {', '.join(missing)}", position)
        inputs = _parse_operands(parser, "ins")
        outputs = _parse_operands(parser, "outs")
        body = parser.parse_region()
        properties[SEGMENTS] = segments(len(inputs), len(outputs))
        result_types: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            result_types = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        return cls.create(
            operands=(*inputs, *outputs),
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        """The syntax of `parse`, with operands on lines of their own as in tt-mlir."""
        printed = {name: self.properties[name] for name in PRINTED_PROPERTIES} | self.attributes
        printer.print_op_attributes(dict(sorted(printed.items())))
        with printer.indented(2):
            _print_operands(printer, "ins", self.inputs)
            _print_operands(printer, "outs", self.outputs)
        printer.print_string("  ")
        printer.print_region(self.body)
        if self.results:
            printer.print_string(" : ")
            printer.print_list(self.result_types, printer.print_attribute)

    def verify_(self) -> None:
        """Checks the numbers of maps, buffers and results against the operands, and the ranks."""
        operands = len(self.operands)
        if not self.outputs:
            raise VerifyException("a kernel has an output")
        if len(self.indexing_maps.data) != operands:
            raise VerifyException(f"{operands} operands need as many indexing maps, got {len(self.indexing_maps.data)}")
        rank = len(self.iterator_types.data)
        if any(indexing_map.data.num_dims != rank for indexing_map in self.indexing_maps):
            raise VerifyException(f"every indexing map needs one dimension per iterator type, {rank}")
        if len(self.block_factors.data) != rank:
            raise VerifyException(f"every dimension needs a block factor: {rank}, got {len(self.block_factors.data)}")
        if len(self.threads.data) != 1:
            raise VerifyException(f"one region needs one thread, got {len(self.threads.data)}")
        if len(self.body.block.args) != operands:
            raise VerifyException(f"{operands} operands need as many buffers, got {len(self.body.block.args)}")
        if rank < 2:
            raise VerifyException(f"a kernel runs over rows and columns of tiles at least, got {rank} dimensions")
        self._verify_loops(rank)
        if self.results and [value.type for value in self.results] != [value.type for value in self.outputs]:
            raise VerifyException("the results of a d2m.generic have the types of its outputs")

    def _verify_loops(self, rank: int) -> None:
        """Checks buffers, grid and iterator types against the indexing maps."""
        written = self.indexing_maps.data[-1].data.results
        if len(self.grid.data) != len(written):
            raise VerifyException(
                f"every dimension needs an extent of the grid: {len(written)}, got {len(self.grid.data)}"
            )
        for indexing_map, buffer in zip(self.indexing_maps, self.body.block.args, strict=True):
            self._verify_buffer(indexing_map.data, buffer, rank)
        require_parallel_output(written, [kind.data for kind in self.iterator_types])
        self._verify_extents()
        if any(kind.data != "parallel" for kind in self.iterator_types):
            self._verify_accumulation()

    def _verify_extents(self) -> None:
        """Refuses maps that index outside an operand, or that do not cover the output or the reduced dimensions.

        The trip count of a loop is the extent, in tiles, of the output's dimension that it indexes, or of the first
        input's if it indexes none of the output.
        """
        operands = [*zip(self.operands, (each.data for each in self.indexing_maps), strict=True)]
        steps: dict[int, int] = {}
        for operand, indexing_map in (operands[-1], *operands[:-1]):
            if not isinstance(operand.type, TensorType):
                return  # another compiler's IR: the reader of such operands refuses it
            # A tensor without elements has one tile without elements.
            tiles = [max(1, extent) for extent in tile_extents(operand.type.get_shape(), len(indexing_map.results))]
            for extent, result in zip(tiles, indexing_map.results, strict=True):
                taken = steps.setdefault(result.position, extent) if isinstance(result, AffineDimExpr) else None
                last = result.value if isinstance(result, AffineConstantExpr) else extent - 1
                if taken not in (None, extent) or not 0 <= last < extent:
                    raise VerifyException(
                        f"an indexing map {affine_map_text(indexing_map)} does not fit a tensor of {tiles} tiles"
                        + ("" if taken is None else f", for its loop takes {taken} steps")
                    )

    def _verify_accumulation(self) -> None:
        """Refuses accumulating ops whose dimensions are not the reduction dimensions of the kernel."""
        reduced = {dim for dim, kind in enumerate(self.iterator_types) if kind.data == "reduction"}
        lanes = zip(("C", "R"), self.indexing_maps.data[0].data.results[-2:], strict=True)
        own = [lane for lane, result in lanes if isinstance(result, AffineDimExpr) and result.position in reduced]
        for op in self.body.walk():
            if isinstance(op, TileContractOp):
                self._verify_contraction(op)
            if isinstance(op, TileReduceOp) and op.reduce_dim != next(iter(own), None):
                raise VerifyException(f"{op.name} has reduce_dim {op.reduce_dim}, where dimension {own} is reduced")

    def _verify_contraction(self, op: TileContractOp) -> None:
        if len(self.operands) != 3:
            raise VerifyException(f"{op.name} is of a kernel of two inputs and one output")
        (row, inner), (own, column), result = (each.data.results[-2:] for each in self.indexing_maps.data)
        if own != inner or result != (row, column):
            raise VerifyException(f"{op.name} takes tiles of a row and of a column, and gives those where they meet")

    def _verify_buffer(self, indexing_map: AffineMap, buffer: SSAValue, rank: int) -> None:
        require_projection(indexing_map, rank)
        if len(indexing_map.results) < 2:
            raise VerifyException(f"an indexing map gives rows and columns at least, got {len(indexing_map.results)}")
        if not isinstance(buffer.type, CBType):
            raise VerifyException(f"the region takes circular buffers, got {buffer.type}")
        if buffer.type.underlying.get_num_dims() != len(indexing_map.results):
            raise VerifyException(
                f"a circular buffer has {len(indexing_map.results)} dimensions here, got {buffer.type.underlying}"
            )


NUMBERED = "d2m.numbered"
"""On an op of a kernel that equals others but for numbers: the index of its numbers (`GenericOp.own_numbers`)."""


def number_index(op: Operation) -> int | None:
    """The value of `NUMBERED`; None for an op without."""
    index = op.attributes.get(NUMBERED)
    return index.value.data if isinstance(index, IntegerAttr) else None


PRINTED_PROPERTIES = ("block_factors", "grid", "indexing_maps", "iterator_types", "threads")
"""The properties that a `d2m.generic` prints and that its kernel function keeps as attributes."""


def _parse_operands(parser: Parser, keyword: str) -> Sequence[SSAValue]:
    parser.parse_keyword(keyword)
    position = parser.pos
    parser.parse_punctuation("(")
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    if operands is None:
        parser.parse_punctuation(")")
        return ()
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return parser.resolve_operands(operands, types, position)


def _print_operands(printer: Printer, keyword: str, operands: Sequence[SSAValue]) -> None:
    printer.print_string(f"\n{keyword}(")
    if operands:
        printer.print_list(operands, printer.print_operand)
        printer.print_string(" : ")
        printer.print_list([value.type for value in operands], printer.print_attribute)
    printer.print_string(")")


# --- Readings of kernels, which equal kernels of other sizes share ---------------------------------------------------

_MOST_READINGS = 256

_READINGS: dict[Hashable, object] = {}
"""Form of a kernel (transforms/kernels/equal_kernels.py) -> its reading (codegen/reading/kernel_reader.py), the least
recently used first."""


def known_reading(form: Hashable) -> object | None:
    """The reading of the kernels of a form; None if none was read, or long ago."""
    found = _READINGS.pop(form, None)
    if found is not None:
        _READINGS[form] = found
    return found


def keep_reading(form: Hashable, reading: object) -> None:
    """Keeps the reading of a kernel for later ones of its form."""
    _READINGS[form] = reading
    while len(_READINGS) > _MOST_READINGS:
        _READINGS.pop(next(iter(_READINGS)), None)


def forget_readings() -> None:
    """Drop all readings."""
    _READINGS.clear()
