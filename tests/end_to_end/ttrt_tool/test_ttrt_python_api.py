"""`ttrt` as a Python package: what its documents do, in any order, and hooks around operations."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
import torch

from tests.processes import run_python
from ttnn_jit.diagnostics.errors import ArgumentError


@pytest.fixture
def api():
    API = importlib.import_module("ttrt.common.api").API
    API.initialize_apis()
    return API


def test_the_commands_are_registered_classes(api):
    assert [*api.registered_apis] == ["Query", "Read", "Run", "Perf", "Check", "EmitPy", "EmitC"]
    assert all(getattr(api, name) is each for name, each in api.registered_apis.items())
    with pytest.raises(ArgumentError, match="`ttrt emitpy` runs the Python"):
        api.EmitC()


def test_the_script_of_the_document_runs(api, binary, tmp_path):
    util = importlib.import_module("ttrt.common.util")
    arguments = {"--clean-artifacts": True, "--save-artifacts": True, "--loops": 10, "--init": "randn"}
    arguments["binary"] = str(binary("two"))
    log = util.Logger("some_file_name.log")
    artifacts = util.Artifacts(logger=log, artifacts_folder_path=str(tmp_path / "opt"))
    code, results = api.Run(args=arguments, logger=log, artifacts=artifacts)()
    assert (code, [each["result"] for each in results]) == (0, ["pass"])
    assert results[0]["artifacts"] == str(tmp_path / "opt")
    assert len(results[0]["program_results"]["program_index_1"]) == 10
    assert (tmp_path / "opt/two.ttnn/run/program_1/device_output_0.pt").exists()
    assert "results are in run_results.json" in Path("some_file_name.log").read_text()


def test_arguments_are_named_with_and_without_dashes_and_the_older_document_names_a_logger_otherwise(api, binary):
    util = importlib.import_module("ttrt.common.util")
    arguments = api.Run.registered_args
    arguments["loops"] = "3"
    arguments["binary"] = binary("two")
    log = util.Logger("own.log")
    run = api.Run(args=arguments, logging=log, artifacts=util.Artifacts(logging=log, artifacts_folder_path="a"))
    assert (run["--loops"], run["--init"], run["--seed"]) == (3, "randn", 0)
    assert "loops" not in api.Run.registered_args  # a fresh dictionary
    assert api.Run.registered_args["--loops"] == {
        "type": int,
        "default": 1,
        "choices": None,
        "help": "how often each program runs",
    }
    run["save_artifacts"] = True
    assert run()[0] == 0
    assert Path("a/two.ttnn").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"--lopps": 1}, "has no option '--lopps'"),
        ({"--loops": "many"}, "--loops takes a whole number, got 'many'"),
        ({"--init": "gauss"}, "--init takes one of arange, ones, randn, zeros"),
        ({"--memory": "yes"}, "--memory is a switch, and takes True or False"),
        ({"--pcc": []}, "--pcc takes a number"),
        ({"--enable-perf-trace": True}, "--enable-perf-trace is refused"),
    ],
)
def test_other_arguments_are_refused(api, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        api.Run(args=arguments)


def test_a_second_call_knows_nothing_of_the_first(api, binary):
    file = binary("tan")
    run = api.Run(args={"binary": file})
    assert [run()[0], len(run()[1])] == [0, 1]
    file.unlink()
    code, results = run()
    assert (code, len(results)) == (1, 1)
    assert f"{file} does not exist" in results[0]["exception"]


def test_instances_that_are_given_no_file_say_so(api):
    for each in (api.Read, api.Run, api.Perf, api.Check, api.EmitPy):
        code, results = each()()
        assert code == 1
        assert "no file was given" in results[0]["exception"]
    assert api.Query({"--quiet": True})()[0] == 0


def test_sections_are_methods_of_loaded_files(api, binary):
    read = api.Read({"--section": "version"})
    (loaded,) = read.load_binaries_from_path(str(binary("tan")))
    assert read.version(loaded)[0]["version"] == "0.1.0"
    assert read.op_stats(loaded)[0][0]["tan"]["ttnn.tan"] == 1
    stats = importlib.import_module("ttrt.binary.stats")
    (operations,) = stats.collect_op_stats(loaded.fbb)
    tangent = {"op_name": "ttnn.tan", "inputs": [{"shape": [128, 128], "data_type": "f32"}]}
    assert tangent.items() <= next(each for each in operations if each["op_name"] == "ttnn.tan").items()


def test_hooks_are_called_around_every_operation_in_order_and_read_what_there_is(binary):
    runtime = importlib.import_module("ttrt.runtime")
    fbb = importlib.import_module("ttrt.binary").load_binary_from_path(str(binary("softmax_with_goldens")))
    seen = []

    def frees(op_context):
        return '"ttnn.deallocate"' in runtime.get_op_debug_str(op_context)

    def pre_op(held, program_context, op_context):
        if frees(op_context):
            return
        seen.append(("before", runtime.get_op_loc_info(op_context)))
        assert runtime.get_op_output_tensor(op_context, program_context) == {}
        assert held is fbb

    def post_op(held, program_context, op_context):
        if frees(op_context):
            return
        location = runtime.get_op_loc_info(op_context)
        seen.append(("behind", location))
        goldens = runtime.get_debug_info_golden(held, location)
        outputs = runtime.get_op_output_tensor(op_context, program_context)
        assert outputs[0].get_shape() == [64, 128]
        assert [each.shape for each in goldens.values()] == ([[64, 128]] if "sum" in location else [])
        assert runtime.get_op_debug_str(op_context).startswith("%")
        view = device.get_memory_view()[runtime.MemoryBufferType.DRAM]
        assert view.total_bytes_allocated_per_bank + view.total_bytes_free_per_bank == view.total_bytes_per_bank

    device = runtime.open_mesh_device(runtime.MeshDeviceOptions())
    given = [torch.randn(64, 128) for _ in range(2)]
    util = importlib.import_module("ttrt.common.util")
    inputs = [util.create_tensor([each], [1, 1]) for each in given]
    runtime.DebugHooks.get(pre_op, post_op)
    try:
        (output,) = runtime.submit(device, fbb, 0, inputs)
    finally:
        runtime.unregister_hooks()
    assert seen == [(side, f'loc("{name}")') for name in ("sum", "softmax") for side in ("before", "behind")]
    result = util.convert_runtime_to_torch_tensor(runtime.to_host(output)[0])
    torch.testing.assert_close(result, sum(given).softmax(1))
    with pytest.raises(RuntimeError, match="known in hooks"):
        device.get_memory_view()


def test_names_of_the_utilities_compute_what_they_say():
    util = importlib.import_module("ttrt.common.util")
    golden, got = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.5, 4.0])
    absolute, relative, pcc, text = util.get_atol_rtol_pcc(golden, got, 1e-8, 1e-5)
    assert (absolute, relative) == (0.5, 0.25)
    assert pcc == pytest.approx(float(torch.corrcoef(torch.stack([golden, got]))[0, 1]), abs=1e-6)
    assert text.startswith("Max ATOL Delta: 0.5")
    assert util.get_topk_diff(golden, got, 2)[0] == (2.0, 2.5, 0.5, (1,), False)
    masked = util.mask_torch_inf_nan(torch.tensor([1.0, torch.inf, -torch.inf, torch.nan]))
    assert masked.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert util.parse_fabric_config("fabric-1d-ring").name == "FABRIC_1D_RING"
    with pytest.raises(ValueError, match="unknown fabric config"):
        util.parse_fabric_config("token ring")


@pytest.mark.process
def test_another_process_finds_the_package_and_the_command(binary, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from ttrt.common.api import API\n"
        "API.initialize_apis()\n"
        f"code, results = API.Run(args={{'binary': {str(binary('two'))!r}, '--benchmark': True}})()\n"
        "assert code == 0, results\n"
        "import ttrt\n"
        "assert callable(ttrt.main)\n"
    )
    done = run_python("-m", "ttnn_jit", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run_results.json").read_text())[0]["result"] == "pass"
