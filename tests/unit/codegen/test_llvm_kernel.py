"""The generated text and its assembly."""

import re
from dataclasses import replace
from functools import cache

import pytest

from tests.sampling import shown
from tests.unit.codegen.programs import host_isa, kernel_of, scheduled
from ttnn_jit.codegen.blocking.tiers import Tier
from ttnn_jit.codegen.bodies.body_analysis import OPERATION_OF_TILE
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.images.assemble import assemble, assembly
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.ops import ELEMENTWISE, Elementwise
from ttnn_jit.ops.declared import DECLARED
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

BF16, F32 = DataType.BFLOAT16, DataType.FLOAT32
COSH = [("neg", 0), ("exp", 0), ("exp", 1), ("add", 2, 3), ("multiply", 4, 0.5)]


def cosh(dtype=F32, shape=(128, 128), target="cpu"):
    return scheduled([TensorSpec(shape, dtype, Layout.TILE)], COSH, target=target)


def kernel_in(module, isa):
    (body,) = read_kernels(module)
    return kernel_of(body, isa)


def text_of(module, isa):
    return kernel_in(module, isa).text


def assembly_of(kernel, isa):
    return assembly(kernel.modules.whole, isa)


COPY_OF_A_TAIL = re.compile(r"memcpy|vmov\w+\s.*\(.*\{%k")
"""An AVX-512 load or store of some lanes."""


def hot_loop(listing):
    """The instructions of the longest stretch from a label to a jump back to it in which no tail is copied."""
    lines = [line.partition("#")[0].rstrip() for line in listing.splitlines()]
    labels = {line[:-1]: k for k, line in enumerate(lines) if re.match(r"\.LBB\d+_\d+:$", line)}
    loops = []
    for end, line in enumerate(lines):
        jump = re.search(r"\s(\.LBB\d+_\d+)$", line)
        if jump and labels.get(jump.group(1), end) < end:
            loop = lines[labels[jump.group(1)] : end + 1]
            loops.append([each.strip() for each in loop if each.startswith("\t") and not each.startswith("\t.")])
    return max((loop for loop in loops if not any(COPY_OF_A_TAIL.search(each) for each in loop)), key=len)


@pytest.mark.parametrize(
    ("isa", "register"),
    [(AVX512, "zmm"), (AVX2, "ymm"), (NEON, r"v\d+\.4s")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_hot_loop_uses_whole_vectors_and_calls_nothing(isa, register):
    loop = hot_loop(assembly_of(kernel_in(cosh(), isa), isa))
    assert not [line for line in loop if re.match(r"(call|bl|blr)\b", line)]
    arithmetic = [line for line in loop if re.match(r"v?f?(add|sub|mul|fmadd|mla)", line)]
    assert arithmetic
    wide = [line for line in arithmetic if re.search(register, line)]
    assert len(wide) >= len([line for line in arithmetic if re.search(r"[xyz]mm|v\d+\.", line)]) > 10


STACK_STORE = re.compile(r"(v?mov\S*\s.*,\s*-?\d*\(%r[sb]p\)|st[rp]\s.*\[sp.*)$")


@pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
@pytest.mark.parametrize("dtype", sorted(FLOATS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.mlir)
def test_cosh_spills_no_register_in_its_loop(isa, dtype):
    loop = hot_loop(assembly_of(kernel_in(cosh(dtype), isa), isa))
    # With 16 registers, AVX2 keeps a few constants on the stack, as memory operands. So does NEON: of its 32 registers,
    # the table of exp takes four and the values of its two vectors most. Nothing is stored there.
    stack = r"\(%r[sb]p\)" if isa is AVX512 else STACK_STORE
    assert not [line for line in loop if re.search(stack, line)]


CALLED = re.compile(r"^\s+(?:call|callq|bl)\s+([\w.]+)", re.MULTILINE)
SCALAR = {
    "x86": re.compile(r"v(add|sub|mul|div|sqrt|max|min|fn?m(add|sub)\d+)s[sd]\b"),
    "neon": re.compile(r"f(add|sub|mul|div|sqrt|n?madd|n?msub)\s+[sd]\d"),
}
NARROW = {
    "avx512": re.compile(r"v(add|sub|mul|div|sqrt|fn?m(add|sub)\d+)p[sd]\b(?!.*%zmm)"),
    "avx2": re.compile(r"v(add|sub|mul|div|sqrt|fn?m(add|sub)\d+)p[sd]\b(?!.*%ymm)"),
    "neon": re.compile(r"f(add|sub|mul|div|sqrt|mla|mls)\s+v\d+\.2"),
}
# Their rare arguments are computed by a function outside the loop; registers are saved around its call.
CALLS_RARELY = {"tile_sin", "tile_cos", "tile_tan", "tile_fmod", "tile_remainder", "tile_rsqrt", "tile_polygamma"}
# Their polynomials and their cases hold more values at once than there are registers.
MORE_LIVE_THAN_REGISTERS = {
    "avx512": {"tile_multigammaln"},
    "avx2": {
        "tile_atan",
        "tile_lgamma",
        "tile_digamma",
        "tile_softplus",
        "tile_pow",
        "tile_rpow",
        "tile_logaddexp",
        "tile_logit",
        "tile_logit_eps",
        "tile_multigammaln",
    },
    "neon": {"tile_lgamma", "tile_digamma", "tile_multigammaln"},
}


@cache
def body_of(operation):
    dtype = F32 if F32 in operation.dtypes else DataType.INT32
    specs = [TensorSpec((128, 128), dtype, Layout.TILE)] * operation.arity
    call = (operation.tile_name, *range(operation.arity), *operation.tested_attributes)
    (body,) = read_kernels(scheduled(specs, [call]))
    return body


@pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
def test_every_operation_is_whole_vectors_in_registers_and_calls_no_libm(isa):
    exempt = CALLS_RARELY | MORE_LIVE_THAN_REGISTERS[isa.name]
    scalar = SCALAR["neon" if isa is NEON else "x86"]
    for operation in shown(isa.name, ELEMENTWISE):
        listing = assembly_of(kernel_of(body_of(operation), isa), isa)
        loop = hot_loop(listing)
        foreign = {name for name in CALLED.findall(listing) if not name.startswith("ttnn_jit.")}
        assert foreign <= {"memcpy"}, operation.tile_name
        assert not [line for line in loop if scalar.match(line) or NARROW[isa.name].match(line)], operation.tile_name
        assert operation.tile_name in exempt or not list(filter(STACK_STORE.match, loop)), operation.tile_name


def test_kernel_names_distinguish_operations():
    assert len(OPERATION_OF_TILE) == sum(isinstance(operation, Elementwise) for operation in DECLARED)


def test_the_text_contains_no_shape():
    isa = host_isa()
    shapes = [(128, 128), (64, 128), (2, 96, 32)]
    assert len({text_of(cosh(shape=shape), isa) for shape in shapes}) == 1
    odd = [TensorSpec((5, n), F32) for n in (7, 64)]
    rows = [TensorSpec((1, n), F32) for n in (7, 64)]
    texts = {text_of(scheduled([a, b], [("add", 0, 1)]), isa) for a, b in zip(odd, rows, strict=True)}
    assert len(texts) == 1


def test_the_name_is_a_hash_of_the_text():
    isa = host_isa()
    one, other = (kernel_in(cosh(dtype), isa) for dtype in (F32, BF16))
    assert one.name != other.name
    assert one.text.count(one.name) == 1


def test_kernels_of_a_program_are_shared_by_content():
    spec = TensorSpec((32, 32), BF16, Layout.TILE)
    calls = [("exp", 0), ("exp", 1), ("add", 0, 1)]
    program = generate(scheduled([spec, spec], calls, target="wormhole_b0", results=(2, 3, 4)), host_isa())
    assert len(program.plan.launches) == 3
    assert len(program.kernels) == 2
    assert program.plan.launches[0].kernel == program.plan.launches[1].kernel


def test_text_that_llvm_rejects_is_an_internal_error():
    with pytest.raises(InternalError, match="LLVM rejects generated text"):
        assemble(LlvmModule("define void @f( {"), host_isa())


def test_long_bodies_take_one_vector_at_a_time_and_short_ones_two():
    isa = host_isa()
    short = text_of(scheduled([TensorSpec((32, 32), F32)], [("add", 0, 0)]), isa)
    assert f"add i64 %at, {2 * isa.lanes}" in short
    assert f"add i64 %at, {isa.lanes}\n" in text_of(cosh(), isa)


def test_long_chains_of_short_bfloat16_ops_take_two_vectors_and_long_ops_one():
    specs = [TensorSpec((32, 32), BF16, Layout.TILE)] * 31
    ladder = [("add", 0 if k == 1 else 29 + k, k) for k in range(1, 31)]
    isa = replace(AVX512, avx512_bf16=True)
    assert "add i64 %at, 32" in text_of(scheduled(specs, ladder, target="wormhole_b0"), isa)
    assert "add i64 %at, 8" in text_of(scheduled(specs[:1], [("lgamma", 0)], target="wormhole_b0"), AVX2)


LONG_CHAIN = [(("tanh", "sigmoid", "exp")[k % 3], k) for k in range(9)]
"""A chain: each op reads the one before it."""


def long_chain(isa, shape=(128, 128)):
    return kernel_in(scheduled([TensorSpec(shape, F32)], LONG_CHAIN), isa)


SMALL = TensorSpec((32, 32), F32)


@pytest.mark.parametrize("isa", [AVX512, AVX2], ids=lambda isa: isa.name)
def test_long_bodies_over_few_elements_are_not_optimised(isa):
    assert long_chain(isa).tier is Tier.UNOPTIMISED
    assert "nounwind noinline optnone {" in long_chain(isa).text
    assert long_chain(isa, (256, 256)).tier is Tier.OPTIMISED
    assert long_chain(NEON).tier is Tier.OPTIMISED
    ladder = [("add", 0 if k == 1 else 29 + k, k) for k in range(1, 31)]
    wide = kernel_in(scheduled([TensorSpec((128, 128), F32)] * 31, ladder), isa)
    assert wide.tier is Tier.OPTIMISED


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.mlir)
def test_short_bodies_over_few_elements_are_neither_with_their_constants_in_registers(dtype):
    kernel = kernel_in(cosh(dtype), AVX512)
    assert kernel.tier is Tier.UNOPTIMISED
    # The code generator uses a constant for the sign bit of a negation.
    from_memory = [line for line in hot_loop(assembly_of(kernel, AVX512)) if "(%rip)" in line]
    assert len(from_memory) <= 1
    assert kernel_in(cosh(dtype, (256, 256)), AVX512).tier is Tier.OPTIMISED


def test_instructions_of_few_elements_are_selected_fast_where_registers_are_many():
    fast, slow = (long_chain(AVX512, (n, n)) for n in (64, 128))
    assert fast.tier is Tier.FAST_ISEL
    for kernel in (slow, long_chain(AVX2, (64, 64)), kernel_in(scheduled([SMALL], [("sin", 0)]), AVX512)):
        assert kernel.tier is not Tier.FAST_ISEL
    loop = hot_loop(assembly_of(fast, AVX512))
    assert not [line for line in loop if SCALAR["x86"].match(line) or NARROW["avx512"].match(line)]
    # Constants are loaded in every iteration, and the counter is in memory.
    assert len(loop) <= 1.3 * len(hot_loop(assembly_of(slow, AVX512)))


@pytest.mark.parametrize("isa", [AVX512, AVX2], ids=lambda isa: isa.name)
def test_bodies_that_call_functions_are_optimised_which_saves_registers_where_they_call(isa):
    for calls in ([("sin", 0)], [*LONG_CHAIN, ("sin", len(LONG_CHAIN))]):
        assert kernel_in(scheduled([TensorSpec((128, 128), F32)], calls), isa).tier is Tier.OPTIMISED


@pytest.mark.parametrize("isa", [AVX512, AVX2], ids=lambda isa: isa.name)
def test_a_body_that_is_not_optimised_is_whole_vectors_and_keeps_at_most_one_on_the_stack(isa):
    loop = hot_loop(assembly_of(long_chain(isa), isa))
    assert len(loop) > 150
    assert not [line for line in loop if SCALAR["x86"].match(line) or NARROW[isa.name].match(line)]
    assert len(list(filter(STACK_STORE.match, loop))) <= 1


@pytest.mark.parametrize(("isa", "early"), [(AVX512, True), (AVX2, False)], ids=str)
def test_long_bodies_with_free_registers_load_a_chunk_before_the_last_store(isa, early):
    text = text_of(cosh(), isa)
    assert (f"%m = phi <{isa.lanes} x float>" in text) is early
    assert "phi <" not in text_of(scheduled([TensorSpec((32, 32), F32)], [("add", 0, 0)]), isa)


def test_independent_ops_are_interleaved():
    tree = [("add", 0, 1), ("add", 2, 3), ("add", 4, 5), ("sigmoid", 6)]
    specs = [TensorSpec((32, 32), F32)] * 4
    (body,) = read_kernels(scheduled(specs, tree))
    lines = kernel_of(body, host_isa()).text.splitlines()
    adds = [k for k, line in enumerate(lines) if re.search(r"fadd <\d+ x float> %m\S+, %m\S+$", line)]
    assert adds[1] - adds[0] == 1


@pytest.mark.parametrize(("inputs", "lines"), [(1, 0), (2, 4), (8, 16), (16, 0)])
def test_kernels_of_several_inputs_prefetch_their_lines(inputs, lines):
    specs = [TensorSpec((64, 64), F32, Layout.TILE)] * inputs
    sums = [("add", 0 if k == 1 else inputs + k - 2, k) for k in range(1, inputs)] or [("abs", 0)]
    loop = hot_loop(assembly_of(kernel_in(scheduled(specs, sums), AVX512), AVX512))
    assert len([line for line in loop if line.startswith("prefetch")]) == lines


SUMS = [("add", 0, 1), ("add", 2, 3), ("add", 4, 5), ("add", 6, 7), ("add", 8, 9), ("add", 10, 11), ("add", 12, 13)]
PROGRAMS = {
    "cosh": (1, COSH),
    "add-mul-exp-sigmoid": (2, [("add", 0, 1), ("multiply", 2, 0.25), ("exp", 3), ("sigmoid", 4)]),
    "tree": (8, SUMS),
    "chain": (1, [("abs", 0), ("sin", 1), ("neg", 2), ("exp", 3)]),
}


def listing_of(program, isa, target, shape=(128, 128), dtype=BF16):
    inputs, ops = PROGRAMS[program]
    return assembly_of(
        kernel_in(scheduled([TensorSpec(shape, dtype, Layout.TILE)] * inputs, ops, target=target), isa), isa
    )


@pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_no_program_calls_a_function_of_libm(target, isa):
    for program in PROGRAMS:
        called = re.findall(r"^\s+(?:call|callq|bl)\s+(\w+)", listing_of(program, isa, target), re.MULTILINE)
        assert {name for name in called if not name.startswith("ttnn_jit")} <= {"memcpy"}


@pytest.mark.parametrize("dtype", [F32, BF16], ids=["f32", "bf16"])
@pytest.mark.parametrize("program", ["cosh", "tree"])
def test_tails_of_rows_are_masked_where_lanes_can_be_masked(program, dtype):
    calls = re.compile(r"^\s+(call|callq|bl)\s", re.MULTILINE)
    assert not calls.search(listing_of(program, AVX512, "cpu", (40, 197), dtype))
    assert calls.search(listing_of(program, AVX2, "cpu", (40, 197), dtype))


@pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize("program", ["cosh", "add-mul-exp-sigmoid", "tree"])
def test_no_loop_stores_a_register_on_the_stack(program, target, isa):
    assert not [line for line in hot_loop(listing_of(program, isa, target)) if STACK_STORE.match(line)]


@pytest.mark.parametrize("isa", [AVX512, AVX2], ids=lambda isa: isa.name)
@pytest.mark.parametrize(("program", "dtype"), [("cosh", F32), ("tree", F32), ("tree", BF16)])
def test_stores_of_results_larger_than_the_last_cache_are_non_temporal(program, dtype, isa):
    small, large = (hot_loop(listing_of(program, isa, "cpu", (n, n), dtype)) for n in (128, 8192))
    assert not [line for line in small if line.startswith("vmovnt")]
    assert [line for line in large if line.startswith("vmovnt")]
