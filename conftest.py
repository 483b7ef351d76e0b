"""Puts the checkout on the path, so that tests run from it without an install, and lets threads wait without spinning.

Nothing is garbage while torch and the tests are imported: tests/conftest.py enables the collector after that.

The threads of torch would spin between parallel loops: a fifth of the CPU's time of tests of models, which other
workers need. The variable is read when torch is imported; it changes neither the number of threads nor what they do.
"""

import gc
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
gc.disable()
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
