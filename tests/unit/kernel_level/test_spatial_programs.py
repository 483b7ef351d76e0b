"""`d2m.spatial`: launches on cores of their own become one program of TTMetal, or are refused by name."""

import re

import pytest

from ttnn_jit.tools.cli import opt_main

BUFFER = "memref<1x1x1x1x!ttcore.tile<32x32, {0}>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>"
PORT = "memref<1x1x!ttcore.tile<32x32, {0}>, #ttcore.cb_layout<4096x4096, 1>, #ttcore.memory_space<l1>>"
SEMAPHORES = "memref<8x8x1x1xui32, #ttcore.shard<4x4, 1>, #ttcore.memory_space<l1>>"
MAP = "virt_to_physical_map = (d0, d1) -> (0, {0}, {1}), physical_to_virt_map = (d0, d1) -> (0, d0 - 1, d1 - 2)"
OFFSET = MAP.format("d0 + 1", "d1 + 2")


def launch(kernel, grid="1x1", *, given="%a, %b, %p", more="", element="f32"):
    source, target, port = given.split(", ")
    buffer, local = BUFFER.format(element), PORT.format(element)
    return f"""d2m.generic {{block_factors = [], grid = #ttcore.grid<{grid}>, indexing_maps = [], iterator_types = [],
      threads = [#d2m.thread<datamovement, @{kernel}, dm_core = 1>, #d2m.thread<compute, @compute>]{more}}}
      ins({source} : {buffer}) outs({target} : {buffer}) additionalArgs({port}, %s : {local}, !d2m.global_semaphore)"""


def text_of(first, second, element="f32"):
    buffer, port = BUFFER.format(element), PORT.format(element)
    spec = "#ttkernel.arg_spec<ct_args = [<arg_type = cb_port, operand_index = 2>, <arg_type = global_semaphore, "
    kernels = "\n".join(
        f"""func.func private @{name}() attributes {{tt.function_type = "kernel", ttkernel.arg_spec =
        {spec}operand_index = 3>]>, ttkernel.thread = #ttkernel.thread<{thread}>}} {{ return }}"""
        for name, thread in (("one", "noc"), ("two", "noc"), ("compute", "compute"))
    )
    return f"""module {{
  func.func @f(%a: {buffer}, %c: {buffer}) {{
    %b = memref.alloc() {{alignment = 64 : i64, address = 4096 : i64}} : {buffer}
    %p = memref.alloc() {{alignment = 16 : i64, address = 8192 : i64}} : {port}
    %q = memref.alloc() {{alignment = 16 : i64, address = 12288 : i64}} : {port}
    %r = memref.alloc() {{alignment = 16 : i64, address = 16384 : i64}} : {SEMAPHORES}
    %s = d2m.create_global_semaphore(%r) {{value = 7 : ui32}} : {SEMAPHORES} -> !d2m.global_semaphore
    d2m.spatial {{grid_ranges = [#ttcore.core_range<(0, 0), (0, 0)>, #ttcore.core_range<(1, 2), (1, 2)>]}}
        ins(%a : {buffer}) outs(%b, %c : {buffer}, {buffer}) {{
      ^bb0:
        {first}
      }}, {{
      ^bb0:
        {second}
      }}
    d2m.reset_global_semaphore(%s) {{value = 0 : ui32}} : !d2m.global_semaphore
    return
  }}
  {kernels}
}}"""


def lowered(tmp_path, capsys, text):
    (tmp_path / "spatial.mlir").write_text(text)
    status = opt_main(["--ttcore-register-device", "--convert-d2m-to-ttmetal", str(tmp_path / "spatial.mlir")])
    found = capsys.readouterr()
    return found.out if status == 0 else found.err


@pytest.mark.parametrize(("element", "wide"), [("f32", "true"), ("bf16", "false")])
def test_launches_on_cores_of_their_own_are_one_program(tmp_path, capsys, element, wide):
    first = launch("one", element=element)
    second = launch("two", f"1x1, {OFFSET}", given="%a, %c, %q", element=element)
    made = lowered(tmp_path, capsys, text_of(first, second, element))
    assert made.count("ttmetal.enqueue_program") == 1
    assert not re.search(r"\bd2m\.", made)
    ports = re.findall(
        r"@(\w+), #ttmetal.core_range<([^>]*)>, #ttmetal.kernel_args< ?ct_args = \[<(.*?)>, <(.*?)>\]", made
    )
    near, far = ("cb_port[0]", "global_semaphore[2]"), ("cb_port[1]", "global_semaphore[5]")
    cores = ("0x0, 1x1", "1x2, 1x1")
    assert ports == [
        ("one", cores[0], *near), ("compute", cores[0], *near), ("two", cores[1], *far), ("compute", cores[1], *far)
    ]  # fmt: skip
    assert made.count(f"hifi4, {wide}, false, false") == 2
    assert "initial_value = 7 : ui32" in made
    assert "core_range = #ttmetal.core_range<0x0, 8x8>" in made
    assert '"ttmetal.reset_global_semaphore"' in made


FABRIC = """, fabricConnectionConfig = #ttcore.fabric_connection_config<noc_index = noc0, topology = ring,
    cluster_axis = 1, routing_mode = unidir_ring_torus, num_links = 1>"""


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (launch("two", f"1x1, {OFFSET}", more=FABRIC), "its kernels connect chips"),
        (launch("two", f"1x1, {MAP.format('d0 + 8', 'd1')}"), "lies on no rectangle"),
        (launch("two", f"1x1, {OFFSET}") + f" %n = memref.alloc() : {BUFFER.format('f32')}", "more than launches"),
        (launch("two"), "another launch of the program has its cores"),
    ],
)
def test_what_is_no_program_of_one_chip_is_refused(tmp_path, capsys, second, reason):
    assert reason in lowered(tmp_path, capsys, text_of(launch("one"), second))
