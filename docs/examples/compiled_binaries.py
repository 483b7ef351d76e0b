# Build modules with ttmlir, write them as binaries with their goldens, and run them with ttrt.
#
#     python -m ttnn_jit docs/examples/compiled_binaries.py [FOLDER]
#
# With a folder it only writes the binaries there: docs/examples/compiled_binaries.yml runs them in CI.

import os
import sys
import tempfile
from pathlib import Path

import torch
from ttmlir import passes
from ttmlir.dialects import func, ttir
from ttmlir.ir import Context, F32Type, InsertionPoint, Location, Module, RankedTensorType
from ttmlir.passes import DataType, GoldenTensor

ROWS, COLUMNS = 64, 128


def softmax_of_sum():
    with Context(), Location.unknown():
        tensor = RankedTensorType.get([ROWS, COLUMNS], F32Type.get())
        module = Module.create()
        with InsertionPoint(module.body):

            @func.func(tensor, tensor)
            def main(x, y):
                total = ttir.AddOp(tensor, x, y, loc=Location.name("total")).result
                return ttir.SoftmaxOp(tensor, total, 1, loc=Location.name("softmax"))

    x, y = torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)
    goldens = {"input_0": x, "input_1": y, 'loc("total")': x + y, "output_0": (x + y).softmax(1)}
    return module, goldens


def held(location, tensor):
    """A golden on device 0; the binary gets a copy of its elements."""
    size = tensor.numel() * tensor.element_size()
    strides = list(tensor.stride())
    return {0: GoldenTensor(location, list(tensor.shape), strides, DataType.Float32, tensor.data_ptr(), size)}


def write(folder):
    torch.manual_seed(0)
    system = os.environ.get("SYSTEM_DESC_PATH")
    for build in (softmax_of_sum,):
        module, goldens = build()
        module.operation.verify()
        passes.ttir_to_ttnn_runtime_pipeline(module, f"system-desc-path={system}" if system else "")
        kept = {location: held(location, tensor) for location, tensor in goldens.items()}
        passes.ttnn_to_flatbuffer_file(module, str(folder / f"{build.__name__}.ttnn"), kept)


def run(folder):
    from ttrt.common.api import API

    API.initialize_apis()
    arguments = {"binary": str(folder), "--enable-golden": True, "--result-file": str(folder / "results.json")}
    status, results = API.Run(args=arguments)()
    assert status == 0, results
    print([(Path(each["file_path"]).name, each["result"], each["device"]) for each in results])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        chosen = Path(sys.argv[1])
        chosen.mkdir(parents=True, exist_ok=True)
        write(chosen)
    else:
        with tempfile.TemporaryDirectory() as made:
            write(Path(made))
            run(Path(made))
    print("PASSED")
