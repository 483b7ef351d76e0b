"""The stages of a compile that are passes, in order: one line each.

A stage's name is that of everything of it: ``d2m-op-scheduler`` is the pass of that name in ``d2m_op_scheduler.py``,
its option on the command line, its dump and the folder of its textual tests.
"""

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
"""Names of the stages behind the frontend, in order."""
