"""The command line: one module per command, each importing what it needs when it runs.

The folder also holds what docs and stubs are made from: the table of environment variables (`tools/environment.py`)
and that of names (`tools/names.py`).
"""
