"""Process-wide utilities: locks, forks, interrupts.

`process/compile_lock.py` has the lock of compiles, `process/finalizers.py` finalizers that an interrupt cannot split,
`process/progress.py` the progress display, `process/complete_file.py` atomic writes of files. `process/dataclass.py`
and `process/memoized.py` have the decorators of dataclasses and of memoized functions.
"""
