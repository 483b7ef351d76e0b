"""Functions of the host's module, of LLVM's dialect, as LLVM functions whose every access to memory is checked.

`instruction_text.py` writes each operation with the builder of `kernels/llvm`, `checked_functions.py` functions and the
module, `access_checks.py` what looks an address up, `value_types.py` has the types, and `libm_functions.py` the
functions of the C library that may be called. The record that a run shares with the native code is
`runtime/native/run_record.py`.
"""
