"""``python -m ttnn_jit.tools.bound_rank ENVIRONMENTS PROGRAM ...``: becomes the program of a rank of `tt-run`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Replace this process by the program, with the variables of its rank; the launcher sets `RANK`."""
    environments, *program = arguments
    own = json.loads(environments)[int(os.environ.get("RANK", "0"))]
    for name, value in own.items():
        os.environ[name] = value
    os.execvp(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
