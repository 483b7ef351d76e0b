"""`ttrt`: reads, checks, runs and measures compiled binaries, as a command and as a Python package.

`option_declarations.py` declares every command with its options once; parser (`option_parsing.py`), help, Python API
and docs derive from it. `ttrt_command.py` is the command line; `public_api.py`, `util_names.py` and `public_binary.py`
are what `ttrt.common.api`, `ttrt.common.util` and `ttrt.binary` hold. Commands (`query_command.py` and so on) share
`command_stages.py`. They find files (`found_files.py`), load them (`loaded_binaries.py`), compare systems
(`system_comparison.py`), and write results (`result_files.py`) and artifacts (`artifact_folders.py`). `runs/` runs
programs.
"""
