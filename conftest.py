"""Puts the checkout on the path, so that tests run from it without an install."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
