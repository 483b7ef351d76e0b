"""Functions of the host's module, of LLVM's dialect, as LLVM text whose every access to memory is checked.

`instruction_text.py` has the text of each operation, `checked_functions.py` that of functions and of the module,
`access_checks.py` that of the checks, and `libm_functions.py` the functions of the C library that may be called. The
record that a run shares with the native code is `runtime/native/run_record.py`.
"""
