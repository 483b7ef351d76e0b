"""Four elementwise programs against torch.compile, 256^2 to 4096^2, f32 and bf16, targets cpu and wormhole_b0.

    python benchmarks/elementwise.py [--rounds N] [--only TEXT]

``copy`` is one operation that costs nothing: the bytes per second that this machine moves, for the roof. See
comparison.py for how peers are measured.
"""

from __future__ import annotations

from comparison import Case, run
from programs import ELEMENTWISE

SIZES = (256, 512, 1024, 2048, 4096)
CASES = [
    Case(workload, (size, size), dtype)
    for workload in ("copy", *ELEMENTWISE)
    for dtype in ("f32", "bf16")
    for size in SIZES
]

if __name__ == "__main__":
    run("elementwise", __file__, __doc__, CASES)
