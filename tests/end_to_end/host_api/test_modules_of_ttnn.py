"""Programs import modules of ttnn and of its extension by their own paths."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.tools.script import TTNN_DEPENDENCIES
from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED, mirrored

ROOT = Path(__file__).parents[3]


def run(tmp_path, text, *, status=0):
    script = tmp_path / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "ttnn_jit", str(script)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.process
def test_every_module_is_imported_by_its_path_and_is_the_attribute_of_that_name(tmp_path):
    lines = ["import ttnn, ttnn_jit.ttnn, operator, sys"]
    for path in MIRRORED:
        lines += [f"import ttnn.{path}", f"assert sys.modules['ttnn.{path}'] is operator.attrgetter('{path}')(ttnn)"]
    run(tmp_path, "\n".join(lines))


IMPORTS = """
from ttnn._ttnn.operations.normalization import create_group_norm_input_mask, create_group_norm_input_negative_mask
from ttnn._ttnn.operations.experimental import Conv3dConfig, MinimalMatmulConfig
from ttnn._ttnn.operations.trace import begin_trace_capture, end_trace_capture
from ttnn._ttnn.tensor import Layout, MemoryConfig, Tensor
from ttnn._ttnn.device import DEFAULT_L1_SMALL_SIZE, SubDeviceId, get_arch_name
from ttnn.operations.ccl import Topology
from ttnn.operations.embedding import EmbeddingsType
from ttnn.operations.losses import LossReductionMode
from ttnn.operations.matmul import MatmulMultiCoreReuseProgramConfig, MatmulProgramConfig
from ttnn.operations.normalization import LayerNormProgramConfig, SoftmaxProgramConfig
from ttnn.operations.reduction import ReduceType
from ttnn.operations.transformer import SDPAProgramConfig
from ttnn.decorators import command_queue, get_golden_function
from ttnn.distributed import *
from ttnn.distributed.distributed import ConcatMeshToTensor as joined
from ttnn.torch_tracer import trace, visualize
from ttnn.types import Tensor as also
import ttnn

assert Tensor is also is ttnn.Tensor and joined is ConcatMeshToTensor is ttnn.ConcatMeshToTensor
assert ttnn._ttnn.multi_device.SystemMeshDescriptor().get_device_id(ttnn.MeshCoordinate(1, 2)) == 6
from tracy import signpost
signpost("start"); signpost(header="stop", message="of it")
"""


@pytest.mark.process
def test_modules_that_public_programs_import_are_found(tmp_path):
    run(tmp_path, IMPORTS)


@pytest.mark.process
def test_a_real_tracy_takes_precedence(tmp_path):
    (tmp_path / "tracy.py").write_text("signpost = 'real'")
    assert run(tmp_path, "from tracy import signpost; print(signpost)").stdout == "real\n"


@pytest.mark.parametrize("path", MIRRORED)
def test_a_missing_name_is_no_attribute_and_the_error_names_the_module(path):
    module = mirrored(path)
    assert not hasattr(module, "no_such_name")
    assert not hasattr(module, "__wrapped__")
    with pytest.raises(AttributeError, match=re.escape(f"module 'ttnn.{path}' has no attribute 'moe'")):
        _ = module.moe
    for name in module.__all__:
        assert getattr(module, name) is getattr(ttnn, name)


def test_all_settings_of_links_are_taken():
    ttnn.set_fabric_config(
        ttnn.FabricConfig.FABRIC_1D,
        ttnn.FabricReliabilityMode.STRICT_INIT,
        None,
        ttnn.FabricTensixConfig.DISABLED,
        ttnn.FabricUDMMode.DISABLED,
        ttnn.FabricManagerMode.DEFAULT,
        ttnn.FabricRouterConfig(),
    )
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED, num_planes=2, fabric_manager_mode=ttnn.FabricManagerMode.ENABLED)
    for name in ("reliability_mode", "fabric_tensix_config", "fabric_udm_mode", "fabric_manager_mode", "router_config"):
        with pytest.raises(ValueError, match=f"`{name}` of set_fabric_config must be a ttnn.Fabric"):
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED, **{name: 3})


def test_the_extra_installs_the_packages_that_the_hint_names():
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["ttnn"]
    names = {re.match(r"\w+", requirement)[0] for requirement in requirements}
    assert {"yaml" if name == "pyyaml" else name for name in names} == TTNN_DEPENDENCIES


@pytest.mark.process
def test_a_missing_module_that_a_wheel_of_ttnn_installs_has_a_hint(tmp_path):
    hide = "import sys; sys.modules.update(dict.fromkeys(['loguru', 'pandas']))\n"
    done = run(tmp_path, hide + "from loguru import logger", status=1)
    assert done.stderr.endswith("help: ttnn's own wheel brings 'loguru': `pip install 'ttnn_jit[ttnn]'`\n")
    assert "help:" not in run(tmp_path, "import no_such_module", status=1).stderr


def test_tracing_is_enabled_and_disabled_by_calls():
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=ttnn.open_device(device_id=0))
    ttnn.tracer.disable_tracing()
    for _ in range(2):
        ttnn.tracer.enable_tracing()
        with pytest.raises(ValueError, match="enabled already"):
            ttnn.tracer.enable_tracing()
        y = ttnn.exp(x)
        ttnn.tracer.disable_tracing()
        assert not ttnn.tracer.is_tracing_enabled()
        assert "ttnn.exp" in [node.name for node in ttnn.tracer.get_graph(y)]


def test_settings_are_copied_kept_and_restored(monkeypatch):
    kept = ttnn.Config(ttnn.CONFIG)
    monkeypatch.setattr(ttnn, "CONFIG", kept)
    with ttnn.manage_config("report_name", "mine"):
        assert kept.report_name == "mine"
    assert kept.report_name is None
    ttnn.load_config_from_dictionary({"comparison_mode_pcc": 0.5})
    assert kept.comparison_mode_pcc == 0.5
    with pytest.raises(ValueError, match="argument of Config"):
        ttnn.Config(3)


@pytest.mark.process
def test_report_internals_that_suites_use_are_importable(tmp_path):
    text = """
import ttnn, ttnn.database
assert ttnn.database.SQLITE_CONNECTION is None and not ttnn.database.DEVICE_IDS_IN_DATABASE
assert ttnn.database.SQLITE_DB_PATH == "db.sqlite" and ttnn.CONFIG_PATH is None and ttnn.CONFIG_OVERRIDES is None
"""
    run(tmp_path, text)
