"""A module of an addition and a softmax, and how `_ttmlir_runtime` runs it, for the tests of this folder."""

import torch

import ttnn_jit

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import runtime  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes  # noqa: E402
from ttmlir.dialects import func, ttir  # noqa: E402
from ttmlir.ir import (  # noqa: E402
    Context,
    F32Type,
    InsertionPoint,
    Location,
    Module,
    RankedTensorType,
)


def tensor(*shape):
    return RankedTensorType.get(shape, F32Type.get())


def built(body, *inputs, location="here"):
    """A module with one function of a body of Python."""
    with Context(), Location.name(location):
        module = Module.create()
        with InsertionPoint(module.body):
            func.func(*inputs, name="main")(body)
    module.operation.verify()
    return module


def softmax_of_sum(x, y):
    total = ttir.AddOp(x.type, x, y, loc=Location.name("total")).result
    return ttir.SoftmaxOp(total.type, total, 1, loc=Location.name("softmax"))


def run(module, *tensors):
    made = passes.ttnn_to_flatbuffer_bin(module)
    device = runtime.open_mesh_device(runtime.MeshDeviceOptions())
    inputs = [
        runtime.create_borrowed_host_tensor(
            each.data_ptr(), list(each.shape), list(each.stride()), each.element_size(), kind_of(each)
        )
        for each in tensors
    ]
    layouts = [runtime.get_layout(made, 0, index) for index in range(len(inputs))]
    placed = [runtime.to_layout(each, device, layout) for each, layout in zip(inputs, layouts, strict=True)]
    outputs = runtime.submit(device, made, 0, placed)
    runtime.wait(outputs)
    found = []
    for output in outputs:
        (host,) = runtime.to_host(output, untilize=True)
        copy = torch.empty(host.get_shape(), dtype=torch.float32)
        target = runtime.create_borrowed_host_tensor(
            copy.data_ptr(), list(copy.shape), list(copy.stride()), 4, runtime.DataType.Float32
        )
        runtime.memcpy(target, host)
        found.append(copy)
    return found


def kind_of(tensor):
    return {torch.float32: runtime.DataType.Float32, torch.int64: runtime.DataType.Int64}[tensor.dtype]
