"""A process that forks while another of its threads compiles for the first time."""

import os
import subprocess
import sys
import textwrap

import pytest

FORK_IN_THE_FIRST_IMPORT = """
    import os, sys, threading, time
    import torch
    import ttnn_jit

    entered = threading.Event()

    class SlowImport:
        def find_spec(self, name, *_):
            if name == "ttnn_jit.frontend":
                entered.set()
                time.sleep(0.5)

    sys.meta_path.insert(0, SlowImport())
    double = ttnn_jit.jit()(lambda x: x + x)
    first = threading.Thread(target=double, args=(torch.ones(32, 32),))
    first.start()
    entered.wait()
    child = os.fork()
    result = double(torch.ones(32, 32))
    if child == 0:
        os._exit(int(result.sum() != 2048))
    first.join()
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the host has no fork")
def test_a_child_forked_in_the_first_compile_of_another_thread_compiles_and_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK_IN_THE_FIRST_IMPORT)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env=os.environ | {"TTNN_JIT_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert done.stdout.strip() == "0"
