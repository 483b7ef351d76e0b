"""Comparison sessions: what runs inside a ``with`` is compared with its goldens, operation by operation.

`comparison_session.py` has `session`. Calls of operations and jitted functions are compared by
`ttnn/observing/comparison_mode.py`; functions of texts, and thus binaries and programs of a builder, by `text_runs.py`
with the goldens of `text_goldens.py`. Both pass what they find to recorders (`golden/comparison_recorder.py`).
"""

from ttnn_jit.golden.comparison_checks import ChecksConfig
from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode, Status
from ttnn_jit.golden.record_report import Report
from ttnn_jit.sessions.comparison_session import SessionReport, session

__all__ = ["ChecksConfig", "ComparisonRecord", "Mode", "Report", "SessionReport", "Status", "session"]
