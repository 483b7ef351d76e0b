"""A configuration of lit for a folder of MLIR tests: copy it into the folder, and run ``lit FOLDER``.

The tests are `.mlir` files with lines such as ``// RUN: ttmlir-opt --canonicalize %s | FileCheck %s``. As in tt-mlir,
``%system_desc_path%`` is the file that the variable ``SYSTEM_DESC_PATH`` names, or nothing: then the system is that of
the text, or one Wormhole chip.
"""

import os
import shutil
import sys

import lit.formats

config.name = "ttnn_jit"  # noqa: F821 - lit defines `config`
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821, PTH120
config.excludes = ["Inputs"]  # noqa: F821

# Tests with `REQUIRES: opmodel`, of the optimizer, are skipped.
config.available_features.update({"stablehlo", "n150"})  # noqa: F821
config.substitutions.append(("%system_desc_path%", os.environ.get("SYSTEM_DESC_PATH", "")))  # noqa: F821
config.substitutions.append(("%python", sys.executable))  # noqa: F821

# lit hides variables from tests unless they are named.
for name in ("HOME", "XDG_CACHE_HOME", "SYSTEM_DESC_PATH", "TT_MLIR_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]  # noqa: F821

# The commands of the environment that runs lit, and FileCheck of the package `filecheck` if LLVM's is not there.
scripts = os.path.dirname(sys.executable)  # noqa: PTH120
config.environment["PATH"] = os.pathsep.join([scripts, os.environ["PATH"]])  # noqa: F821
if shutil.which("FileCheck") is None:
    config.substitutions.append((r"\bFileCheck\b", "filecheck"))  # noqa: F821
