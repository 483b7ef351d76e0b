"""Programs that run: binaries, and the Python of `ttrt emitpy`.

`program_inputs.py` makes inputs, `submitted_programs.py` runs a program. `op_callbacks.py` is called around each
operation: `golden_comparison.py` compares its result, and `operation_timings.py` measures it. `op_statistics.py` counts
operations. `emitted_programs.py` imports and calls Python programs, which find `emitted_utils.py` as `utils`.
"""
