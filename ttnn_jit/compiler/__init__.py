"""One compile, and looking into it.

`compiler/driver.py` is the order of a compile, on one page. `compiler/request.py` says what is asked for, of a
function or of an eager operation; `compiler/stored_programs.py` finds what was compiled before, in memory and on
disk; `compiler/backends.py` lists what makes native code of a scheduled module, and `compiler/l1_requirement.py`
refuses what no empty device has the L1 for. `compiler/inspection.py` and `compiler/report.py` look into a compile:
stage texts, `explain()`, why the disk had nothing. One thread compiles at a time, and a fork waits for it
(`process/compile_lock.py`).
"""
