"""Locks, forks and interrupts.

It holds locks, interrupts and finalizers that none divides (`process/finalizers.py`), what long work says of itself
(`process/progress.py`), and the decorators of dataclasses (`process/dataclass.py`) and of functions whose arguments
may be extents (`process/memoized.py`).
"""
