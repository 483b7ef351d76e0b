"""What operations the programs of a binary hold: `ttrt.binary.stats`."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from xdsl.dialects.func import CallOp, ReturnOp

from ttnn_jit.dialects.text_calls.op_calls import read_op
from ttnn_jit.dialects.text_calls.tensor_types import dtype_in_text, is_tensor
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.text_calls.uncomputed_ops import is_only_a_number
from ttnn_jit.ops.families.text_operation import Role


def computes(op: Any) -> bool:
    """Whether an operation computes, or devices exchange data in it: it does not call, allocate or free alone."""
    if isinstance(op, CallOp | ReturnOp) or is_only_a_number(op):
        return False
    return read_op(op).operation.role in {Role.COMPUTES, Role.EXCHANGES}


def operations_of(binary: Any, index: int) -> list[Any]:
    """The operations of a program, those of regions included, in order."""
    function = binary.text_module.functions[binary.get_program_name(index)]
    return [each for each in function.body.walk() if not isinstance(each, ReturnOp)]


def counted_ops(binary: Any, index: int) -> dict[str, int]:
    """How often each operation stands in a program, the most frequent first."""
    return dict(Counter(map(name_of, operations_of(binary, index))).most_common())


def collect_op_stats(binary: Any) -> list[list[dict[str, Any]]]:
    """Every operation of every program, with its operands and results."""
    return [
        [
            {
                "op_name": name_of(op),
                "inputs": [_tensor(each.type) for each in op.operands if is_tensor(each.type)],
                "outputs": [_tensor(each.type) for each in op.results if is_tensor(each.type)],
            }
            for op in operations_of(binary, index)
        ]
        for index in range(binary.get_num_programs())
    ]


def _tensor(type_: Any) -> dict[str, Any]:
    return {"shape": list(type_.get_shape()), "data_type": str(dtype_in_text(type_.get_element_type()).mlir)}


def construct_op_stats_json(frontend: str, model: str, binary: Any) -> str:
    """The operations of a binary as JSON, with the names of a frontend and a model."""
    return json.dumps({"frontend": frontend, "model": model, "operations": collect_op_stats(binary)}, indent=4)
