"""Locations in the user's file are kept in ops, in text and through rewrites."""

from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, ModuleOp, UnknownLoc
from xdsl.ir import Operation

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.dialects.locations import (
    fused_location,
    location_attribute,
    location_of,
    locations_of,
)
from ttnn_jit.dialects.upstream.reading import parse_upstream

TEXT = """\
#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x3xf32, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<3xf32, #ttnn_layout> loc("a.py":1:7)) -> tensor<3xf32, #ttnn_layout> {
    %0 = "ttnn.exp"(%arg0) : (tensor<3xf32, #ttnn_layout>) -> tensor<3xf32, #ttnn_layout> loc(#loc3)
    %1 = "ttnn.neg"(%0) : (tensor<3xf32, #ttnn_layout>) -> tensor<3xf32, #ttnn_layout> loc(#loc5)
    return %1 : tensor<3xf32, #ttnn_layout> loc(#loc6)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("a.py":1:1)
#loc3 = loc("a.py":2:5)
#loc4 = loc("a \\22b\\22.py":3:5)
#loc5 = loc(fused[#loc3, #loc4])
#loc6 = loc(callsite(#loc3 at #loc4))
"""


def ops_named(module: ModuleOp, name: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == name]


def test_locations_print_as_mlir_opt_prints_them() -> None:
    lines = TEXT.splitlines()
    # An argument's location is defined at the top although it is printed in full, as by mlir-opt.
    lines.insert(1, '#loc2 = loc("a.py":1:7)')
    text = "\n".join(lines) + "\n"
    assert print_module(parse_module(text), locations=True) == text


def test_locations_are_omitted_by_default() -> None:
    assert "loc(" not in print_module(parse_module(TEXT))


def test_a_location_of_the_user_is_read_from_an_attribute() -> None:
    module = parse_module(TEXT)
    (exp,), (neg,) = ops_named(module, "ttnn.exp"), ops_named(module, "ttnn.neg")
    (returned,) = ops_named(module, "func.return")
    assert location_of(exp) == Location("a.py", 2, 5)
    assert locations_of(neg) == (Location("a.py", 2, 5), Location('a "b".py', 3, 5))
    assert isinstance(returned.location, CallSiteLoc)
    assert location_of(returned) == Location("a.py", 2, 5)
    assert location_of(module) is None


def test_fusing_names_each_location_once_and_leaves_out_the_unknown() -> None:
    one, two, three = (location_attribute(Location("m.py", line)) for line in (1, 2, 3))
    assert fused_location([]) == UnknownLoc()
    assert fused_location([UnknownLoc(), two]) == two
    fused = fused_location([fused_location([two, one]), UnknownLoc(), one, three])
    assert isinstance(fused, FusedLoc)
    assert fused == fused_location([two, one, three])


def test_an_op_whose_location_names_no_file_has_its_place_in_the_text() -> None:
    text = """#loc3 = loc("convolution.3")
module {
  func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = "ttir.exp"(%arg0) : (tensor<8xf32>) -> tensor<8xf32> loc(#loc3)
    %1 = "ttir.neg"(%0) : (tensor<8xf32>) -> tensor<8xf32> loc("a.py":7:2)
    return %1 : tensor<8xf32> loc(unknown)
  }
}
"""
    module = parse_upstream(text, "a.mlir")
    places = [location_of(op) for op in module.walk() if op.name in {"ttir.exp", "ttir.neg", "func.return"}]
    assert places == [Location("a.mlir", 4, 5), Location("a.py", 7, 2), Location("a.mlir", 6, 5)]
    assert 'loc("convolution.3")' in print_module(module, locations=True)
