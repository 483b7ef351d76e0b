"""The comparison of results with goldens: distances, verdicts, records, and reports.

`distances.py` measures the distance of two torch tensors, and `verdict.py` judges it. Whoever compares, an eager
operation, a jitted function or an op of a text, passes a verdict to a recorder (`comparison_recorder.py`). It applies
the checks of `comparison_checks.py` and makes a record (`comparison_records.py`). `golden_chain.py` has the goldens of
tensors, with which a chain goes on. `record_report.py` reads, filters and writes records as lines of JSON;
`comparison_report.py` merges the files of several processes, and `comparison_page.py` writes the HTML page.
"""
