"""``python -m ttnn_jit script.py args...`` runs a script written for ttnn; see `ttnn_jit.tools.script`."""

import sys

from ttnn_jit.tools.script import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
