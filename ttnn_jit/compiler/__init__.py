"""The compile of a program, and its inspection.

`compiler/driver.py` has the order of a compile, on one page. `compiler/request.py` describes the input of a compile: a
function or an eager operation. `compiler/stored_programs.py` finds programs that were compiled before, in memory and on
disk. `compiler/backends.py` lists the code generators, and `compiler/l1_requirement.py` refuses programs that exceed
the L1 of an empty device. `compiler/inspection.py` and `compiler/report.py` inspect a compile: stage texts,
`explain()`, the reasons of cache misses. One thread compiles at a time, and a fork waits for it
(`process/compile_lock.py`).
"""
