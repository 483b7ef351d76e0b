"""A configuration of lit for a folder of MLIR tests: copy it into the folder, and run ``lit FOLDER``.

The tests are `.mlir` files with lines such as ``// RUN: ttmlir-opt --canonicalize %s | FileCheck %s``.
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

# The commands of the environment that runs lit, and FileCheck of the package `filecheck` if LLVM's is not there.
scripts = os.path.dirname(sys.executable)  # noqa: PTH120
config.environment["PATH"] = os.pathsep.join([scripts, os.environ["PATH"]])  # noqa: F821
if shutil.which("FileCheck") is None:
    config.substitutions.append(("FileCheck", "filecheck"))  # noqa: F821
