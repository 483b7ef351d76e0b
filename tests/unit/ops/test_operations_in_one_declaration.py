"""An operation is defined in one declaration: no other room names it."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import ttnn_jit
from ttnn_jit import ops

PACKAGE = Path(ttnn_jit.__file__).parent
HOMES = ("ops", "kernels")
LINKED = (path for room in ("cache", "kernels") for path in (PACKAGE / room).rglob("*.py"))
TEXTS = PACKAGE / "dialects" / "upstream"
"""What tt-mlir's texts may hold: its syntax and rules go by the names of its operations, and compile nothing."""
FILES = sorted(
    path
    for path in {*PACKAGE.rglob("*.py"), *LINKED}
    if path.relative_to(PACKAGE).parts[0] not in HOMES and TEXTS not in path.parents
)

OTHER_MEANINGS = {
    ("codegen/numba_kernel.py", "i0"): "the variable of an innermost loop",
    ("dialects/d2m.py", "tile_typecast"): "the op of tiles, which every pass may write",
    ("frontend/calls/code_scan.py", "add"): "the method of sets",
    ("ttnn/experimental.py", "typecast"): "the function of the host API, under ttnn's other name",
    ("ttnn/experimental.py", "view"): "the eager function, under ttnn's other name",
    **{
        ("foreign/torch_operators.py", word): "what torch calls an operator of Python's"
        for word in (
            "abs",
            "add",
            "div",
            "ge",
            "gt",
            "le",
            "lt",
            "matmul",
            "mul",
            "ne",
            "neg",
            "pow",
            "remainder",
            "sub",
        )
    },
    ("tools/opt_arguments.py", "all"): "a value of `--verify-diagnostics`, as mlir-opt spells it",
    ("tools/chosen_passes.py", "all"): "every pass",
    ("transforms/texts/passes/ttir_to_ttir_decomposition.py", "gather"): "the file of rules for ops with indices",
    ("module_builders/base/builder_runtime.py", "max"): "a field of a report",
    **{
        ("transforms/shardings/part_exchanges.py", word): "a kind of reduction, or the op of StableHLO that is written"
        for word in ("add", "max", "maximum", "min", "minimum", "multiply", "prod", "reshape", "slice", "sum")
    },
    ("transforms/texts/passes/replicate_non_splittable_values.py", "slice"): "the op of StableHLO",
    ("transforms/texts/passes/ttcore_register_device_texts.py", "linear"): "a topology of a mesh",
    ("emitpy/emitpy_dialect.py", "assign"): "the op of EmitPy",
    ("emitpy/emitpy_dialect.py", "var"): "a name of a variable",
    ("runtime/native/launch_ir.py", "chunk"): "the variable of a loop",
    ("codegen/checked/instruction_text.py", "fmod"): "the function of C's library",
    ("codegen/checked/instruction_text.py", "eq"): "a predicate of LLVM",
    ("codegen/checked/instruction_text.py", "abs"): "a function of LLVM",
    ("codegen/checked/instruction_text.py", "trunc"): "an instruction of LLVM",
    ("codegen/checked/access_checks.py", "eq"): "a predicate of LLVM",
    ("codegen/checked/checked_functions.py", "ne"): "a predicate of LLVM",
    ("interpreters/host_level/host_interpreter.py", "add"): "a method of the address space",
    **{
        ("interpreters/host_level/instruction_meanings.py", word): "an instruction of LLVM, or what numpy calls it"
        for word in (
            *(
                "abs",
                "add",
                "atan2",
                "eq",
                "erf",
                "erfc",
                "fmod",
                "ge",
                "gt",
                "hypot",
                "le",
                "lt",
                "maximum",
                "minimum",
                "mul",
            ),
            *("ne", "pow", "round", "sub", "trunc"),
        )
    },
    **{
        ("module_builders/goldens/golden_map_tensor.py", word): "an operator of Python"
        for word in ("abs", "add", "eq", "ge", "gt", "le", "lt", "matmul", "mul", "ne", "neg", "pow", "sub")
    },
    **{
        (
            "module_builders/stablehlo/region_methods.py",
            word,
        ): "a method of the builder, or how a window is folded"
        for word in ("add", "max", "min", "mul", "scatter", "sort")
    },
    **{
        (
            f"module_builders/{dialect}/{dialect}_builder.py",
            word,
        ): "a method of the builder, or a part of its call"
        for dialect, words in (
            ("stablehlo", ("clamp", "gather", "pad", "reshape")),
            ("ttir", ("clamp_scalar", "max", "min", "reshape", "slice_static", "topk")),
            ("ttnn", ("clamp_scalar", "max", "min", "repeat", "reshape", "typecast")),
        )
        for word in words
    },
    **{
        ("binaries/constants.py", word): "an op of texts that moves or casts constants"
        for word in ("reshape", "typecast")
    },
    **{
        (
            "dialects/ttkernel/tile_functions.py",
            word,
        ): "the stem of functions of ttkernel, which is the name of another op"
        for word in ("bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "floor", "frac", "trunc")
    },
    ("interpreters/kernel_level/tile_steps.py", "transpose"): "the stem of a function of ttkernel",
    ("transforms/kernel_level/tile_program.py", "transpose"): "an operand of a function of ttkernel",
    **{
        (f"tools/ttrt/{file}.py", word): "every section, any device, or a field of a report"
        for file, word in (
            ("loaded_binaries", "all"),
            ("option_declarations", "all"),
            ("option_declarations", "any"),
            ("read_command", "all"),
            ("run_command", "any"),
            ("runs/golden_comparison", "max"),
            ("runs/op_callbacks", "max"),
        )
    },
    ("ttmlir/dialect_attributes.py", "scatter"): "an attribute of StableHLO",
    ("ttmlir/mlir_views.py", "view"): "what shows an operation by its declaration",
    ("ttnn/namespace/mirrored_modules.py", "matmul"): "a module of ttnn's",
    **{
        ("ttnn/functions/moreh.py", word): "moreh's function of that name"
        for word in ("cumsum", "layer_norm", "mean", "norm", "softmax", "sum")
    },
    ("frontend/python/language.py", "add"): "the operation that every namespace of ttnn has",
    ("frontend/calls/python_functions.py", "copy"): "the method of containers",
    ("runtime/tensors/tensor.py", "copy"): "the function that is being called, as an error names it",
    ("frontend/calls/python_functions.py", "add"): "the method of sets",
    ("frontend/calls/python_functions.py", "reverse"): "the method of lists",
    ("frontend/calls/python_functions.py", "sort"): "the method of lists",
    ("frontend/python/side_effects.py", "reverse"): "the method of lists",
    ("guards/fingerprints.py", "slice"): "Python's builtin",
    ("runtime/native/helper_ir.py", "round"): "a variable of LLVM text: the round of work that helpers serve",
    **{
        (f"runtime/native/{file}.py", word): "a predicate of LLVM"
        for file, words in (("helper_ir", ("eq", "ne")), ("launch_ir", ("eq",)))
        for word in words
    },
}
"""File and word -> its meaning there, if it is an operation's name by coincidence."""


def names():
    for each in ops.OPERATIONS:
        yield from (each.name, each.ttnn_name, each.ttir_name, each.tile_name)
    yield from ops.ALIASES


NAMES = set(names())
DECLARED = {
    name
    for module in ops.modules_of(ops.CALLABLE)
    for name, value in vars(import_module(f"ttnn_jit.ops.{module}")).items()
    if isinstance(value, ops.Elementwise | ops.Movement)
}


def nodes_of(source):
    return list(ast.walk(ast.parse(source)))


def strings(nodes):
    """String literals except docstrings, and the last part of dotted names: ``ttnn.exp`` gives ``exp``."""
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value.rpartition(".")[2]


def declarations_imported(nodes):
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ttnn_jit.ops."):
            yield from (alias.name for alias in node.names if alias.name in DECLARED)


LISTED = [module for listing in (ops.CALLABLE, ops.IN_PROGRAMS, ops.GRADIENTS) for module in ops.modules_of(listing)]


def test_every_module_of_operations_is_listed_once_and_named_in_no_other_list():
    assert len(LISTED) == len({*LISTED})
    declaring = {
        f"{path.parent.name}.{path.stem}"
        for path in (PACKAGE / "ops").glob("*/*.py")
        if "\nOPERATIONS" in path.read_text() and path.stem != "opaque"
    }
    assert declaring == {*LISTED}


def test_no_room_but_ops_and_kernels_names_an_operation():
    named, imported = set(), set()
    for path in FILES:
        nodes, file = nodes_of(path.read_text(encoding="utf-8")), path.relative_to(PACKAGE).as_posix()
        named |= {(file, word) for word in strings(nodes) if word in NAMES}
        imported |= {(file, name) for name in declarations_imported(nodes)}
    assert named == set(OTHER_MEANINGS)
    assert imported == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('x = "exp"', True),
        ('x = "ttnn.exp"', True),
        ('match name:\n    case "tile_exp": pass', True),
        ('"exp"', False),
        ('x = f"{y}_exp"', False),
    ],
)
def test_a_name_is_found_in_code_and_not_in_a_docstring(source, found):
    assert bool(set(strings(nodes_of(source))) & NAMES) is found
