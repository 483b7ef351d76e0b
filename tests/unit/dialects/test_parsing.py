"""Text that the parser accepts beyond the printer's, and errors about invalid text."""

import pytest

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import InvalidModule, parse_module, print_module
from ttnn_jit.dialects.builders import tile_memref
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text.parsing import SourceText
from ttnn_jit.dialects.ttcore import tile_type
from ttnn_jit.specs.tensor_spec import DataType


def refusal(text: str) -> InvalidModule:
    with pytest.raises(InvalidModule) as caught:
        parse_module(text, "dump.mlir")
    return caught.value


@pytest.mark.parametrize("extents", ["32x32", "32 x 32"])
def test_a_tile_type_may_have_spaces(extents: str) -> None:
    module = parse_module(f"func.func private @f(!ttcore.tile<{extents}, bf16>)")
    assert print_module(module) == ("module {\n  func.func private @f(!ttcore.tile<32x32, bf16>)\n}\n")


def test_the_old_name_of_ttcore_is_read_and_the_current_one_is_printed() -> None:
    text = "func.func private @f(!{0}.tile<32x32, f32>, memref<1x1xf32, #{0}.memory_space<l1>>)"
    assert print_module(parse_module(text.format("tt"))) == print_module(parse_module(text.format("ttcore")))
    assert refusal("func.func private @f(!tt.brick<1>)").message == "'tt.brick' is not registered"


def test_a_tile_knows_its_bytes() -> None:
    assert tile_type(DataType.FLOAT32).nbytes == 4096
    assert tile_type(DataType.BFLOAT16).nbytes == 2048


@pytest.mark.parametrize("buffer", ["!d2m.cb<MEMREF>", "<MEMREF>"])
def test_a_buffer_is_parsed_with_and_without_its_type_name(buffer: str) -> None:
    memref = str(tile_memref((1, 1), DataType.BFLOAT16, "l1"))
    text = f"""
func.func @f(%cb: !d2m.cb<{memref}>) {{
  %0 = d2m.wait %cb : {buffer.replace("MEMREF", memref)} -> {memref}
  return
}}
"""
    assert "%0 = d2m.wait %arg0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>" in print_module(parse_module(text))


def test_location_aliases_may_be_defined_after_their_uses() -> None:
    text = 'module {\n} loc(#loc1)\n#loc = loc("a.py":1:2)\n#loc1 = loc(fused[#loc, #loc])\n'
    hoisted = SourceText(text, "dump.mlir").hoisted
    assert hoisted.startswith('#loc = loc("a.py":1:2) #loc1 = loc(fused[#loc, #loc]) module {\n')
    parse_module(text)


def test_invalid_mlir_is_refused_at_its_location() -> None:
    error = refusal("module {\n  func.func @f() {\n    return = 3\n  }\n}")
    assert error.location == Location("dump.mlir", 3, 12, 3, 13)


def test_locations_in_refused_text_do_not_move_with_the_aliases() -> None:
    error = refusal('module {\n  "ttnn.nothing"() : () -> ()\n}\n#loc = loc("a.py":1:2)\n')
    assert (error.message, error.location) == (
        "Operation ttnn.nothing is not registered",
        Location("dump.mlir", 2, 4, 2, 16),
    )


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (
            "!ttcore.tile<32x32, f80>",
            "expected one of bf16, f32, u32, bfp_bf8, bfp_bf4, u8, u16, si32, si16, bool, si64, si8, u64, f16, f64, "
            "bfp_f8, bfp_f4, bfp_f2, bfp_bf2, got 'f80'",
        ),
        ("!ttcore.tile<32, f32>", "a tile has two extents"),
        ("!ttcore.tile<16x32, f32>", "a tile is 32x32, got 16x32"),
        ("tensor<1xf32, #ttcore.buffer_access<copy>>", "expected one of alias, stream, got 'copy'"),
        ("memref<1xf32, #ttcore.memory_space<l2>>", "expected one of system, mmio, dram, l1, dst, got 'l2'"),
        (
            "tensor<1xf32, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1xf32>, <interleaved>>>",
            "the memref of a layout lies in a #ttnn.buffer_type, got none",
        ),
        (
            "tensor<1xf32, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1, (d0) -> (d0)>, memref<1xf32>, <interleaved>>>",
            "the only grid map is the column-major one, (d0, d1) -> (0, d1, d0)",
        ),
    ],
)
def test_a_wrong_type_is_refused_with_its_rule(type_: str, message: str) -> None:
    assert refusal(f"func.func private @f({type_})").message == message


def test_a_generic_without_its_properties_is_refused() -> None:
    text = "func.func @f() {\n  d2m.generic {grid = #ttcore.grid<1x1>} ins() outs() {\n  }\n  return\n}"
    assert refusal(text).message == "d2m.generic needs block_factors, indexing_maps, iterator_types, threads"


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ('module attributes {a = "x' + "y" * 60 + "} {\n}", "this string is not closed on its line", (1, 24)),
        ('module attributes {a = "\\q"} {\n}', "or holds an escape that MLIR does not know", (1, 24)),
        ("module {\n} // ²\n²", "outside strings and comments MLIR is ASCII, got '²'", (3, 1)),
        ("module attributes {a = ٣} {\n}", "outside strings and comments MLIR is ASCII, got '٣'", (1, 24)),
        ("\ufeffmodule {\n}", "outside strings and comments MLIR is ASCII, got '\\\\ufeff'", (1, 1)),
        ("module attributes {a = " + "[" * 70, "brackets are nested more than 64 deep", (1, 87)),
        ("module attributes {\n a = " + "1" * 5000 + "} {\n}", "a number has at most 400 digits", (2, 6)),
        ("module attributes {a = 9223372036854775808000 : i64} {\n}", "9223372036854775808000", (1, 52)),
        ("module attributes {a = array<i64: 1, 99999999999999999999>} {\n}", "", (1, 38)),
        ('module {\n}\n#loc = loc("a.py":1:2)\n#loc1 = loc(fused<)', "'[' expected", (4, 18)),
        ("module {\n func.func @f() {\n ^a:\n  return\n ^a:\n return\n }\n}", "", (5, 2)),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_at_its_location(
    text: str, message: str, position: tuple[int, int]
) -> None:
    error = refusal(text)
    assert message.replace("\\\\", "\\") in error.message
    assert error.location is not None
    assert (error.location.file, error.location.line, error.location.column) == ("dump.mlir", *position)


def test_an_op_without_a_location_gets_its_position_in_the_text() -> None:
    module = parse_module('module {\n  func.func @f() {\n    return loc(unknown)\n  }\n} loc("a.py":1:2)', "dump.mlir")
    (function,) = module.body.block.ops
    (end,) = function.regions[0].block.ops
    assert location_of(function) == Location("dump.mlir", 2, 3)
    assert location_of(end) is None
    assert location_of(module) == Location("a.py", 1, 2)


@pytest.mark.parametrize("kind", ["systolic", "broadcast"])
def test_loops_that_only_a_chip_has_are_refused_by_name(kind):
    message = refusal(f"#loop = #ttcore.iterator_type<{kind}>\nmodule {{}}").message
    assert message == f"expected one of parallel, reduction, got '{kind}'"


def test_an_unknown_operation_has_a_caret_of_its_own_length_and_a_suggestion(tmp_path):
    path = tmp_path / "wrong.mlir"
    line = '  %0 = "ttnn.exq"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("a/long/path.py":1:2)'
    text = f"func.func @f(%x: tensor<32x32xf32>) {{\n{line}\n  return\n}}"
    path.write_text(text)
    with pytest.raises(InvalidModule) as raised:
        parse_module(text, str(path))
    assert raised.value.help == "did you mean `ttnn.eq` or `ttnn.exp`?"
    *_, shown, carets, _ = str(raised.value).splitlines()
    assert carets.count("^") == len("ttnn.exq")
    assert shown[carets.index("^") :].startswith("ttnn.exq")


def test_an_operation_that_resembles_no_other_has_no_suggestion():
    assert refusal("ttnn.qqzz").help is None
