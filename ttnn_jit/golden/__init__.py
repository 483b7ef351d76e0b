"""Results beside what they should be: how far they are, whether that is right, and the report of it.

`distances.py` measures two torch tensors, `verdict.py` judges them, `comparison_records.py` holds what was found, as
lines of JSON, which `comparison_page.py` shows; `comparison_report.py` has the files that several processes write and
one merges.
"""
