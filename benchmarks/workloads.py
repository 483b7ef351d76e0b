"""Named programs of real models against torch.compile, each with its error against float64.

    python benchmarks/workloads.py [--rounds N] [--only TEXT]

The activation between the two halves of a GPT-OSS expert, (2, 32, 3072) in bf16; the digamma series; a ladder of 31
additions; swiglu; four gelus in a row. See comparison.py for how peers are measured.
"""

from __future__ import annotations

from comparison import Case, run

CASES = [
    Case("gate-up activation", (2, 32, 3072), "bf16"),
    Case("gate-up activation", (8, 512, 3072), "bf16"),
    *(
        Case(workload, (1024, 1024), dtype)
        for workload in ("digamma series", "add ladder of 31", "swiglu", "gelu chain")
        for dtype in ("f32", "bf16")
    ),
]

if __name__ == "__main__":
    run("workloads", __file__, __doc__, CASES)
