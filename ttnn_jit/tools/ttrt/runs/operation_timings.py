"""The time of each operation of a program that runs operation by operation, as ``ops_perf_results.csv``.

The columns are those of ttrt. Columns that only a device can fill are empty.
"""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.func import FuncOp

from ttnn_jit.dialects.text_calls.tensor_types import dtype_in_text, is_tensor
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of, name_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.specs.tensor_spec import BufferType
from ttnn_jit.tools.ttrt.runs.op_statistics import computes
from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import get_op_loc_info

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import OpContext

_OF_TENSOR = ("W", "Z", "Y", "X", "LAYOUT", "DATATYPE", "MEMORY")
COLUMNS = (
    "OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "ATTRIBUTES", "MATH FIDELITY", "CORE COUNT",
    "PARALLELIZATION STRATEGY", "HOST START TS", "HOST END TS", "HOST DURATION [ns]", "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]", "OP TO OP LATENCY BR/NRISC START [ns]", "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL DURATION DM START [ns]", "DEVICE KERNEL DURATION PER CORE MIN [ns]",
    "DEVICE KERNEL DURATION PER CORE MAX [ns]", "DEVICE KERNEL DURATION PER CORE AVG [ns]",
    "DEVICE KERNEL FIRST TO LAST START [ns]", "DEVICE BRISC KERNEL DURATION [ns]", "DEVICE NCRISC KERNEL DURATION [ns]",
    "DEVICE TRISC0 KERNEL DURATION [ns]", "DEVICE TRISC1 KERNEL DURATION [ns]", "DEVICE TRISC2 KERNEL DURATION [ns]",
    "DEVICE ERISC KERNEL DURATION [ns]", "DEVICE COMPUTE CB WAIT FRONT [ns]", "DEVICE COMPUTE CB RESERVE BACK [ns]",
    "DISPATCH TOTAL CQ CMD OP TIME [ns]", "DISPATCH GO SEND WAIT TIME [ns]",
    *(f"{side}_0_{name}" for side in ("INPUT", "OUTPUT") for name in _OF_TENSOR),
    "METAL TRACE ID", "METAL TRACE REPLAY SESSION ID", "COMPUTE KERNEL SOURCE", "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL SOURCE", "DATA MOVEMENT KERNEL HASH", "BRISC MAX KERNEL SIZE [B]",
    "NCRISC MAX KERNEL SIZE [B]", "TRISC 0 MAX KERNEL SIZE [B]", "TRISC 1 MAX KERNEL SIZE [B]",
    "TRISC 2 MAX KERNEL SIZE [B]", "ERISC MAX KERNEL SIZE [B]", "PM IDEAL [ns]", "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]", "PM REQ I BW", "PM REQ O BW", "PM FPU UTIL (%)", "NOC UTIL (%)", "DRAM BW UTIL (%)",
    "NPE CONG IMPACT (%)", "LOC", "CONST_EVAL_OP", "PROGRAM_METADATA",
)  # fmt: skip
"""The columns of the document of ttrt."""
CONST_EVAL, LAYOUT_CONVERSION = "CONST_EVAL_OP", "INPUT_LAYOUT_CONVERSION_OP"
ALL_COLUMNS = (*COLUMNS[:-1], LAYOUT_CONVERSION, COLUMNS[-1])
"""Those of August 2026, which has one more."""
ON_HOST = "tt_dnn_cpu"
"""The type of operations that a processor runs, by tt-metal's name."""

Row = dict[str, Any]


class OperationTimer:
    """Measures operations between two callbacks.

    Attributes:
        rows: A row for each operation so far.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.metadata: Mapping[str, Any] = {}
        self._start = 0

    def begin(self, *_: Any) -> None:
        """Called right before an operation."""
        self._start = time.perf_counter_ns()

    def end(self, _: Any, __: Any, op_context: OpContext) -> None:
        """Called right behind an operation."""
        end = time.perf_counter_ns()
        op = op_context.op
        if not computes(op):
            return
        operands = [each.type for each in op.operands if is_tensor(each.type)]
        results = [each.type for each in op_context.results]
        self.rows.append(
            {
                "OP CODE": name_of(op),
                "OP TYPE": ON_HOST,
                "GLOBAL CALL COUNT": len(self.rows) + 1,
                "ATTRIBUTES": _attributes(op),
                "HOST START TS": self._start,
                "HOST END TS": end,
                "HOST DURATION [ns]": end - self._start,
                **_tensor("INPUT", operands),
                **_tensor("OUTPUT", results),
                "LOC": get_op_loc_info(op_context),
                CONST_EVAL: str(is_const_eval(op)).lower(),
                LAYOUT_CONVERSION: "false",  # inputs are taken as they lie
                "PROGRAM_METADATA": str(dict(self.metadata)),
            }
        )


def is_const_eval(op: Operation) -> bool:
    """Whether an operation is of a function that computes constants."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    if parent is None:
        return False
    kinds = (*parent.attributes, *(str(each) for each in parent.attributes.values()))
    return "const_eval" in parent.sym_name.data or any("const_eval" in each for each in kinds)


def _attributes(op: Operation) -> str:
    """The attributes as text; entries are separated by semicolons."""
    return "{" + "; ".join(f"'{name}': '{value}'" for name, value in sorted(attributes_of(op).items())) + "}"


def _tensor(side: str, types: Sequence[Any]) -> Row:
    """The columns of the first tensor of a side."""
    if not types:
        return {}
    type_ = types[0]
    shape: tuple[int, ...] = (1, 1, 1, *type_.get_shape())
    *outer, z, y, x = shape
    layout, memory = "ROW_MAJOR", ""
    if isinstance(type_.encoding, TTNNLayoutAttr):
        layout = "TILE" if isinstance(type_.encoding.memref.element_type, TileType) else "ROW_MAJOR"
        kind = type_.encoding.buffer_type
        on_device = f"{kind.name}_{type_.encoding.tensor_memory_layout.name}"
        memory = "HOST" if kind is BufferType.SYSTEM_MEMORY else on_device
    dtype = dtype_in_text(type_.get_element_type()).name
    values = (math.prod(outer), z, y, x, layout, dtype, memory)
    return {f"{side}_0_{name}": value for name, value in zip(_OF_TENSOR, values, strict=True)}


def as_csv(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows below the columns of August 2026."""
    written = io.StringIO()
    writer = csv.DictWriter(written, ALL_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue().encode()
