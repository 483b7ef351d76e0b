"""The passes of a compile, in order.

One name identifies a stage everywhere: ``d2m-op-scheduler`` is the name of the pass, of its file
``d2m_op_scheduler.py``, of its command line option, of its dump and of the folder of its textual tests.
"""

FRONTEND = "frontend"
"""The name of the stage before the first pass in `until`, `start_after` and ``after-frontend{...}``."""

STAGE_ORDER: tuple[str, ...] = (
    "convert-ttnn-to-ttir",
    "ttir-decompose-composites",
    "canonicalize",
    "cse",
    "convert-ttir-to-d2m",
    "d2m-scalarize-const-tensors",
    "d2m-generic-fusion",
    "d2m-generic-tile-compute-loops",
    "d2m-op-scheduler",
    "d2m-insert-dst-register-access",
    "convert-d2m-to-ttnn",
)
"""Names of the stages after the frontend, in order."""
