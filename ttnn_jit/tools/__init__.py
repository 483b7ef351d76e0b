"""The command line: one module per command, which imports its dependencies when it runs.

The folder also has the generators of docs and stubs, such as the table of environment variables
(`tools/environment.py`) and the table of names (`tools/names.py`).
"""
