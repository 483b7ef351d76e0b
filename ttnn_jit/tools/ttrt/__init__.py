"""`ttrt`: reads, checks, runs and times compiled binaries, as a command and as a Python package.

`option_declarations.py` declares every command with its options once; parser, help, Python API and docs derive from it.
`ttrt_command.py` is the command line, `public_api.py` and `public_names.py` are what `ttrt.common.api` and
`ttrt.common.util` hold. Commands (`query_command.py` and so on) share `command_stages.py`. They find files
(`found_files.py`), load them (`loaded_binaries.py`), and write results (`result_files.py`) and artifacts
(`artifact_folders.py`). `op_callbacks.py` is called around each operation, for goldens, memory and the debugger.
"""
