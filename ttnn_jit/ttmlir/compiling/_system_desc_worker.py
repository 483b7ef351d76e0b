"""Writes the description of the system to a file: ``python _system_desc_worker.py FILE``, as tt-mlir's of that name."""

import sys

from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription

if __name__ == "__main__":
    SystemDescription.of_target(resolve_target(None)).store(sys.argv[1])
