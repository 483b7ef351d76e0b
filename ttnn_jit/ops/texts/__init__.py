"""The ops of tt-mlir's texts that are no call of one declared operation, and the table of all.

Each file declares ops of one kind. An op that says a call of a declared operation, with its operands and attributes,
needs no entry here: it is derived from the declaration (`Spelling`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from ttnn_jit.ops import OPERATIONS, OVERLOADS, modules_of
from ttnn_jit.ops.families.spelling import Spelling
from ttnn_jit.ops.families.text_operation import TextOperation

_FILES = """
texts: created_tensors elementwise_texts movement_texts placement_texts reduction_texts product_texts window_texts
texts: ttnn_convolution_texts pool_texts norm_texts cache_texts exchange_texts quantized_texts training_texts
texts: attention_texts distributed_norm_texts sampling_texts expert_texts former_texts
conversions: converted_elementwise converted_integers converted_movements converted_reductions converted_products
conversions: converted_indices converted_calls fourier_transforms converted_exchanges converted_shards converted_tosa
conversions: converted_targets converted_composites converted_experts complex_functions random_bits
"""


@cache
def text_operations() -> Mapping[str, TextOperation]:
    """Name in a text, ``ttir.add``, -> what it computes."""
    table: dict[str, TextOperation] = {}
    for operation in OPERATIONS:
        same = [each for each in OVERLOADS[operation.name] if each.fixed_keywords == operation.fixed_keywords]
        for name in (f"ttir.{operation.ttir_name}", f"ttnn.{operation.ttnn_name}"):
            if name not in table:
                table[name] = Spelling(name, same[same.index(operation) :])
    for module in modules_of(_FILES):
        for declared in import_module(f"ttnn_jit.ops.{module}").TEXTS:
            table |= dict.fromkeys(declared.names, declared)
    return table


@cache
def former_attributes() -> Mapping[str, tuple[str, ...]]:
    """Name of an op -> the attributes that tell a former form of it, which is declared as ``name@attribute``."""
    named = [name.split("@") for name in text_operations() if name.startswith(("ttir.", "ttnn.")) and "@" in name]
    return {name: tuple(each for own, each in named if own == name) for name, _ in named}
