"""torch tensors that claim to be dense on the CPU but have no memory, and torch's tracers."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, shape):
        return torch.Tensor._make_wrapper_subclass(cls, shape, dtype=torch.float32)

    @classmethod
    def __torch_dispatch__(cls, function, *_, **__):
        raise NotImplementedError(function)


def with_storage_of(nbytes):
    tensor = torch.ones(4)
    tensor.untyped_storage().resize_(nbytes)
    return tensor


@pytest.fixture(params=["first", "warm"])
def compiled(request):
    function = ttnn_jit.jit()(lambda x: ttnn.exp(x))
    for _ in range(4 if request.param == "warm" else 0):
        function(torch.ones(4))
    return function


@pytest.mark.parametrize(
    "make",
    [
        lambda: FakeTensorMode().from_tensor(torch.ones(4)),
        lambda: torch._to_functional_tensor(torch.ones(4)),
        lambda: torch._efficientzerotensor((4,)),
        lambda: with_storage_of(0),
        lambda: Wrapper((4,)),
    ],
    ids=["fake", "functional", "zero", "freed", "wrapper"],
)
def test_a_tensor_without_memory_is_refused(compiled, make):
    with pytest.raises(ArgumentError, match="no memory of its own"):
        compiled(make())


def test_a_tensor_whose_storage_is_too_small_is_refused():
    with pytest.raises(ArgumentError, match="no memory of its own"):
        ttnn_jit.jit()(lambda x: ttnn.exp(x))(with_storage_of(12))


@pytest.mark.parametrize(
    "transformed",
    [
        lambda f: torch.vmap(f)(torch.ones(2, 4)),
        pytest.param(
            lambda f: torch.func.jvp(f, (torch.ones(4),), (torch.ones(4),)),
            marks=pytest.mark.filterwarnings("ignore::DeprecationWarning"),
        ),
    ],
)
def test_a_transform_of_torch_is_refused(compiled, transformed):
    with pytest.raises(ArgumentError, match=r"torch\.vmap"):
        transformed(compiled)


@pytest.mark.parametrize(
    "traced",
    [
        lambda f: make_fx(f)(torch.ones(4)),
        lambda f: make_fx(f, tracing_mode="fake")(torch.ones(4)),
        pytest.param(
            lambda f: torch.jit.trace(f, torch.ones(4)), marks=pytest.mark.filterwarnings("ignore::DeprecationWarning")
        ),
    ],
)
def test_a_tracer_of_torch_is_refused_where_it_would_record_uninitialised_memory(compiled, traced):
    with pytest.raises(ArgumentError, match="cannot be traced by torch"):
        traced(compiled)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_refused():
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(ArgumentError, match=r"a nested tensor(.|\n)*unbind"):
        ttnn_jit.jit()(lambda x: ttnn.exp(x))(nested)


@pytest.mark.parametrize("shape", [(3, 4), (), (0, 4), (1 << 19,)], ids=str)
def test_results_are_on_the_cpu_for_every_default_device(compiled, shape):
    x = torch.ones(shape)
    with torch.device("meta"):
        results = [compiled(x) for _ in range(3)]
    for result in results:
        assert result.device.type == "cpu"
        assert result.shape == x.shape
        assert result.stride() == x.stride()
        assert torch.allclose(result, x.exp())


def test_tensors_of_a_number_are_created_under_every_default_device(device):
    with torch.device("meta"):
        made = ttnn.full((32, 32), 2.5, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    assert bool((ttnn.to_torch(made) == 2.5).all())


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, torch.enable_grad])
def test_results_have_the_inference_mode_of_the_call(compiled, mode):
    x = torch.ones(4)
    with mode():
        assert [compiled(x).is_inference() for _ in range(3)] == [x.exp().is_inference()] * 3
