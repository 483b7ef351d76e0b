# Build modules with builder, write them as binaries with their goldens, and run them with ttrt.
#
#     python -m ttnn_jit docs/examples/compiled_binaries.py [FOLDER]
#
# With a folder it only writes the binaries there: docs/examples/compiled_binaries.yml runs them in CI. Without one it
# runs them in a session, which compares every operation with its golden.

import os
import sys
import tempfile
from pathlib import Path

import torch
from builder.base.builder_apis import Operand, build_module
from builder.ttir.ttir_builder import TTIRBuilder
from ttmlir import passes
from ttmlir.passes import DataType, GoldenTensor

import ttnn_jit.sessions


def softmax_of_sum(builder: TTIRBuilder):
    @builder.func([(64, 128), (64, 128)], [torch.float32, torch.float32])
    def main(x: Operand, y: Operand, builder: TTIRBuilder):
        total = builder.add(x, y, loc="total")
        return builder.softmax(total, dimension=1, loc="softmax")


def held(location, golden):
    """A golden on device 0; the binary gets a copy of its elements."""
    tensor = golden.shard_at(0)
    size = tensor.numel() * tensor.element_size()
    strides = list(tensor.stride())
    return {0: GoldenTensor(location, list(tensor.shape), strides, DataType.Float32, tensor.data_ptr(), size)}


def write(folder):
    system = os.environ.get("SYSTEM_DESC_PATH")
    for function in (softmax_of_sum,):
        module, builder = build_module(function, "ttir")
        of_programs, of_operations = builder.golden_map
        passes.ttir_to_ttnn_runtime_pipeline(module, f"system-desc-path={system}" if system else "")
        kept = {place: held(place, golden) for place, golden in {**of_programs[0], **of_operations}.items()}
        passes.ttnn_to_flatbuffer_file(module, str(folder / f"{function.__name__}.ttnn"), kept)


def run(folder):
    from ttrt.common.api import API

    API.initialize_apis()
    arguments = {"binary": str(folder), "--result-file": str(folder / "results.json")}
    with ttnn_jit.sessions.session() as report:
        status, results = API.Run(args=arguments)()
    assert status == 0, results
    print(report.summary())
    assert report.passes()
    assert not report.failures()
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
