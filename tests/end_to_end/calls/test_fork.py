"""A process that forks while another of its threads compiles for the first time."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from ttnn_jit.cache.disk import DiskStore
from ttnn_jit.runtime.memory.l1 import L1Account
from ttnn_jit.specs.target import PRESETS

FORK_IN_THE_FIRST_IMPORT = """
    import os, sys, threading, time
    import numpy
    import ttnn_jit
    IMPORTED

    entered = threading.Event()

    class SlowImport:
        def find_spec(self, name, *_):
            if name == "ttnn_jit.frontend":
                entered.set()
                time.sleep(0.5)

    sys.meta_path.insert(0, SlowImport())
    ones = numpy.ones((32, 32), numpy.float32)
    double = ttnn_jit.jit()(lambda x: x + x)
    first = threading.Thread(target=double, args=(ones,))
    first.start()
    entered.wait()
    child = os.fork()
    result = double(ones)
    if child == 0:
        os._exit(int(result.sum() != 2048))
    first.join()
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the host has no fork")
@pytest.mark.parametrize("imported", ["", "import logging"], ids=["alone", "logging"])  # logging locks forks too
def test_a_child_forked_in_the_first_compile_of_another_thread_compiles_and_runs(imported, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK_IN_THE_FIRST_IMPORT.replace("IMPORTED", imported))],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env=os.environ | {"TTNN_JIT_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert done.stdout.strip() == "0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the host has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_waits_for_another_thread_that_is_in_the_disk_cache(tmp_path):
    inside, leave = threading.Event(), threading.Event()

    def change(_):
        inside.set()
        leave.wait(10)
        return b"new"

    writer = threading.Thread(target=DiskStore(tmp_path / "cache").update, args=("name", change))
    writer.start()
    inside.wait()
    threading.Timer(0.1, leave.set).start()
    child = os.fork()
    if child == 0:
        os._exit(0 if leave.is_set() else 1)
    assert os.waitpid(child, 0)[1] == 0
    writer.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the host has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_another_thread_charges_l1_charges_it_too():
    account = L1Account(PRESETS["wormhole_b0"])
    inside, leave = threading.Event(), threading.Event()

    def charge():
        with account._lock:
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=charge)
    other.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        account.require(1, "a kernel")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    leave.set()
    other.join()
