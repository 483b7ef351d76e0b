"""Packed weights: products and elements equal those of an unpacked tensor after any sequence of uses."""

from __future__ import annotations

import copy
import gc
import threading
from dataclasses import replace
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.modules import scheduled_module
from tests.products import EXACTLY, assert_bits, for_interpreter, random
from tests.unit.codegen import guarded_programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import DeallocatedError
from ttnn_jit.runtime.device import implicit_cpu_device
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.native import chunks, panels
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS

SHAPE = (257, 136)
ROWS = (1, 3, 8, 17, 70)


@ttnn_jit.jit()
def gated(x, w):
    return ttnn.multiply(ttnn.silu(ttnn.matmul(x, w)), ttnn.matmul(x, w))


def eager(x, w):
    return ttnn.linear(x, w, activation="relu", compute_kernel_config=EXACTLY)


def transposed(x, w):
    return ttnn.matmul(x, w, transpose_b=True, compute_kernel_config=EXACTLY)


def plain(x, w):
    return ttnn.add(ttnn.sum(w, 0, keepdim=True), ttnn.sum(x))


def as_output_tensor(w):
    ttnn.add(w, 1.0, output_tensor=w)


@ttnn_jit.jit()
def increments(w):
    ttnn.add_(w, 1.0)
    return ttnn.sum(w)


def from_host(w):
    ttnn.copy_host_to_device_tensor(ttnn.add(w, 1.0).cpu(), w)


def through_an_alias(w):
    ttnn.add_(copy.copy(w), 1.0)


WRITES = {each.__name__: each for each in (as_output_tensor, increments, from_host, through_an_alias)}
READS = {
    "to_torch": lambda w: w.to_torch(),
    "stored": lambda w: w.cpu().to_torch(),
    "deep": lambda w: copy.deepcopy(w).to_torch(),
    "view": lambda w: ttnn.reshape(w, (1, *w.shape)).to_torch()[0],
}
PRODUCTS = {each.__name__: each for each in (gated, eager, transposed)}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(sorted(PRODUCTS)), st.sampled_from(ROWS)),
        st.tuples(st.sampled_from(["gated", "eager"]), st.just(17)),
        st.tuples(st.sampled_from([*WRITES, *READS, "plain", "keep", "drop", "address"]), st.just(0)),
    ),
    min_size=8,
    max_size=24,
)


def made(device, elements, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(elements, layout=layout, device=device)


def used(w, x, times=5, product=eager):
    return [product(x, w).to_torch() for _ in range(times)]


@settings(max_examples=24, deadline=None)
@given(STEPS, st.sampled_from([torch.float32, torch.bfloat16]), st.booleans(), st.booleans())
def test_steps_with_a_constant_weight_have_the_bits_of_steps_with_new_tensors(steps, dtype, tiled, shared):
    cpu_device = implicit_cpu_device()
    layout = ttnn.TILE_LAYOUT if tiled else ttnn.ROW_MAJOR_LAYOUT
    costs = {"shared_from_ns": 1, "wakes_from_ns": 1} if shared else {}
    elements = random(SHAPE, dtype, 1, 0)
    w, kept = made(cpu_device, elements, layout), []
    with (
        mock.patch.multiple(panels, USES=2, USES_GROWTH=1),
        mock.patch.object(chunks, "HOST_COSTS", replace(HOST_COSTS, **costs)),
    ):
        for step, rows in steps:
            if step in PRODUCTS:
                x = made(cpu_device, random((rows, SHAPE[step == "transposed"]), dtype, rows), layout)
                assert_bits(
                    PRODUCTS[step](x, w).to_torch(), PRODUCTS[step](x, made(cpu_device, elements, layout)).to_torch()
                )
            elif step in WRITES:
                WRITES[step](w)
                elements = elements + 1
            elif step in READS:
                assert_bits(READS[step](w), elements)
            elif step == "plain":
                x = made(cpu_device, elements[:1], layout)
                assert_bits(plain(x, w).to_torch(), plain(x, made(cpu_device, elements, layout)).to_torch())
            elif step == "keep":
                kept.append(ttnn.reshape(w, (1, *SHAPE)))
            elif step == "address":
                kept.append(w.buffer_address())
            else:
                kept.clear()
        assert_bits(w.to_torch(), elements)


@st.composite
def products(draw):
    """Rows, terms and columns around the edges of tiles, panels and blocks."""
    rows = draw(st.sampled_from([1, 2, 3, 5, 8, 9, 17, 70]))
    inner = draw(st.sampled_from([2, 31, 127, 128, 129, 257, 517]))
    return rows, inner, draw(st.sampled_from([17, 32, 33, 63, 64, 255, 257]))


@settings(max_examples=12, deadline=None)
@given(products(), st.sampled_from([torch.float32, torch.bfloat16]), st.booleans(), st.booleans())
def test_on_every_host_panels_give_the_bits_of_plain_elements_and_no_access_leaves_them(
    case, dtype, is_transposed, start
):
    rows, inner, columns = case
    operands = [
        random((rows, inner), dtype, 1),
        random((columns, inner) if is_transposed else (inner, columns), dtype, 2),
    ]
    tensors = [made(implicit_cpu_device(), each, ttnn.ROW_MAJOR_LAYOUT) for each in operands]
    program = ttnn_jit.jit()(lambda x, w: ttnn.matmul(x, w, transpose_b=is_transposed))
    module = scheduled_module(program, *tensors)
    with mock.patch.multiple(panels, MIN_BYTES=0, _PADDING_SHARE=1):
        for isa in guarded_programs.hosts():
            given = module, [for_interpreter(each) for each in operands], isa
            plain_result, result = (
                guarded_programs.guarded(*given, start=start, in_panels=each)[0] for each in (False, True)
            )
            assert (plain_result.view("uint16") == result.view("uint16")).all(), isa.name


def live_bytes(device):
    """The bytes of a device's tensors, those that users allocate and those of operations."""
    return HOST_POOL.statistics().live_bytes + device.first_fit.statistics().live_bytes


def mapped_bytes(device):
    return HOST_POOL.mapped_bytes + device.first_fit.mapped_bytes


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("product", [eager, gated])
@pytest.mark.parametrize("target", ["cpu_device", "device"])
def test_a_constant_weight_is_packed_once_and_uses_no_second_memory(request, target, dtype, product):
    device = request.getfixturevalue(target)
    w, x = made(device, random((256, 512), dtype, 1)), made(device, random((32, 256), dtype, 2))
    gc.freeze()  # garbage of other tests is neither traversed nor freed below
    before = live_bytes(device)
    results = used(w, x, product=product)
    assert panels.is_packed(w) == (device.target.name == "cpu" or dtype is torch.bfloat16)
    for result in results[1:]:
        assert_bits(result, results[0])
    with mock.patch.object(panels.PanelLayout, "pack", side_effect=AssertionError("packed again")):
        used(w, x, product=product)
    del results, result
    gc.collect()
    assert live_bytes(device) == before


def test_panels_are_where_the_elements_of_other_weights_were(cpu_device):
    x = made(cpu_device, random((32, 1024), torch.bfloat16, 2))
    weights = [made(cpu_device, random((1024, 1024), torch.bfloat16, seed)) for seed in range(8)]
    used(weights[0], x)
    HOST_POOL.release_idle()
    cpu_device.first_fit.release_idle()
    before = mapped_bytes(cpu_device)
    for w in weights[1:]:
        used(w, x)
        assert panels.is_packed(w)
    assert mapped_bytes(cpu_device) - before < 2 * weights[0].spec.nbytes


def test_few_rows_and_many_rows_read_the_same_panels(cpu_device):
    w = made(cpu_device, random((256, 512), torch.bfloat16, 1))
    used(w, made(cpu_device, random((64, 256), torch.bfloat16, 2)))
    with mock.patch.object(panels.PanelLayout, "unpack", side_effect=AssertionError("unpacked")):
        for rows in ROWS:
            used(w, made(cpu_device, random((rows, 256), torch.bfloat16, 2)), product=gated)
    assert panels.is_packed(w)


def _l1(w):
    return ttnn.to_memory_config(w, ttnn.L1_MEMORY_CONFIG)


@pytest.mark.parametrize("inner", [257, 1024])
@pytest.mark.parametrize("fidelity", [ttnn.MathFidelity.HiFi2, ttnn.MathFidelity.HiFi4])
def test_sums_that_are_rounded_after_each_tile_are_so_with_panels_too(device, fidelity, inner):
    keywords = {"layout": ttnn.TILE_LAYOUT, "device": device}
    own, x = random((inner, 136), torch.bfloat16, 1), random((70, inner), torch.bfloat16, 2)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=False)

    def product(rows, weight):
        operand = ttnn.from_torch(x[:rows], **keywords)
        return ttnn.to_torch(ttnn.matmul(operand, weight, compute_kernel_config=config))

    weight = ttnn.from_torch(own, **keywords)
    for _ in range(3):
        product(70, weight)
    for rows in ROWS:
        assert_bits(product(rows, weight), product(70, ttnn.from_torch(own, **keywords))[:rows])


@pytest.mark.parametrize(
    "keep",
    [
        lambda w: w.buffer_address(),
        copy.copy,
        lambda w: ttnn.reshape(w, (1, 256, 256)),
        lambda w: w._buffer,
        lambda w: w._buffer.address,
    ],
    ids=["address", "copy", "view", "buffer", "number"],
)
def test_weights_with_other_holders_are_not_packed(cpu_device, keep):
    w = made(cpu_device, random((256, 256), torch.float32, 1))
    kept = keep(w)
    used(w, made(cpu_device, random((16, 256), torch.float32, 2)), 8)
    assert not panels.is_packed(w)
    assert kept is not None


def test_weights_in_l1_are_not_packed(cpu_device):
    w = _l1(made(cpu_device, random((256, 256), torch.float32, 1)))
    used(w, made(cpu_device, random((16, 256), torch.float32, 2)), 8)
    assert not panels.is_packed(w)


def test_a_trace_reads_elements_that_were_written_after_its_capture(cpu_device):
    w, x = made(cpu_device, random((256, 256), torch.float32, 1)), made(cpu_device, random((16, 256), torch.float32, 2))
    used(w, x)
    assert panels.is_packed(w)
    trace = ttnn.begin_trace_capture(cpu_device, cq_id=0)
    result = eager(x, w)
    ttnn.end_trace_capture(cpu_device, trace, cq_id=0)
    for _ in range(6):
        ttnn.add(w, 1.0, output_tensor=w)
        used(w, x, 30)
        ttnn.execute_trace(cpu_device, trace, cq_id=0)
        assert_bits(result.to_torch(), eager(x, copy.deepcopy(w)).to_torch())
    ttnn.release_trace(cpu_device, trace)


def test_a_packed_weight_can_be_deallocated(cpu_device):
    w, x = made(cpu_device, random((256, 256), torch.float32, 1)), made(cpu_device, random((16, 256), torch.float32, 2))
    used(w, x)
    assert panels.is_packed(w)
    assert w.is_allocated()
    ttnn.deallocate(w)
    assert not w.is_allocated()
    assert not panels.is_packed(w)
    for use in (lambda: eager(x, w), lambda: gated(x, w), w.to_torch, w.buffer_address):
        with pytest.raises(DeallocatedError):
            use()


@ttnn_jit.jit()
def product_and_write(x, w, other):
    result = ttnn.matmul(x, w)
    ttnn.add_(other, 1.0)
    return ttnn.add(result, ttnn.matmul(x, w))


def test_a_packed_weight_may_be_written_in_the_call_under_another_name(cpu_device):
    w, other = (made(cpu_device, random((256, 256), torch.float32, k)) for k in (1, 2))
    x = made(cpu_device, random((16, 256), torch.float32, 3))
    for _ in range(5):
        product_and_write(x, w, other)
    assert panels.is_packed(w)
    fresh = made(cpu_device, random((256, 256), torch.float32, 1))
    for _ in range(5):
        assert_bits(product_and_write(x, w, w).to_torch(), product_and_write(x, fresh, fresh).to_torch())
        assert_bits(w.to_torch(), fresh.to_torch())
    assert_bits(w.to_torch(), random((256, 256), torch.float32, 1) + 1 + 1 + 1 + 1 + 1)


def test_a_thread_that_reads_a_weight_while_another_packs_it_gets_its_elements(cpu_device):
    """A user finalizer may run at any allocation; so may a signal handler."""
    w, x = made(cpu_device, random((256, 256), torch.float32, 1)), made(cpu_device, random((16, 256), torch.float32, 2))
    pack = panels.PanelLayout.pack

    def interrupted(*arguments):
        ttnn.add(w, 1.0, output_tensor=w)
        pack(*arguments)

    with mock.patch.object(panels.PanelLayout, "pack", interrupted):
        results = used(w, x, 3)
    assert not panels.is_packed(w)
    assert_bits(w.to_torch(), random((256, 256), torch.float32, 1) + 1)
    assert_bits(results[-1], eager(x, copy.deepcopy(w)).to_torch())


def test_threads_that_multiply_read_and_write_see_complete_weights(cpu_device):
    """The weight is one number throughout at any time; so is every result, unless a write coincides with a product."""
    w, x = made(cpu_device, torch.ones(256, 256)), made(cpu_device, torch.ones(16, 256))
    wrong, done = [], threading.Event()

    def multiply():
        while not done.is_set():
            numbers = eager(x, w).to_torch()
            if numbers.min() < 256 or numbers.max() > 256 * 40:
                wrong.append(numbers)

    def read():
        while not done.is_set():
            numbers = w.to_torch()
            if numbers.min() < 1 or numbers.max() > 40:
                wrong.append(numbers)

    with mock.patch.multiple(panels, USES=1, USES_GROWTH=1):
        threads = [threading.Thread(target=each) for each in (multiply, multiply, read)]
        for thread in threads:
            thread.start()
        for number in range(2, 40):
            ttnn.add(w, 1.0, output_tensor=w)
            assert_bits(eager(x, w).to_torch(), torch.full((16, 256), 256.0 * number))
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong
