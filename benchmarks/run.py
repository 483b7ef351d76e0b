"""Every benchmark in turn, with a progress bar: what ``make bench`` runs.

    python benchmarks/run.py [NAME ...]

Each writes its own files under ``benchmarks/results``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NAMES = ("program_cache", "elementwise", "workloads", "curves")


def main() -> None:
    """Run the named benchmarks, all by default."""
    from rich.progress import Progress

    names = sys.argv[1:] or NAMES
    if os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1):
        print("This machine is busy with something else: the figures will not mean much.", file=sys.stderr)
    with Progress() as progress:
        task = progress.add_task("benchmarks", total=len(names))
        for name in names:
            progress.update(task, description=name)
            script = Path(__file__).with_name(f"{name}.py")
            done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=False)
            progress.console.print(done.stdout, markup=False, soft_wrap=True)
            if done.returncode:
                raise SystemExit(f"{name} failed")
            progress.advance(task)


if __name__ == "__main__":
    main()
