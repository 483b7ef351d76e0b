"""The comparison of results with goldens: distances, verdicts, and reports.

`distances.py` measures the distance of two torch tensors, and `verdict.py` judges it. `comparison_records.py` holds the
records of comparisons as lines of JSON. `comparison_report.py` merges the record files of several processes, and
`comparison_page.py` writes the HTML page.
"""
