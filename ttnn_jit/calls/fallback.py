"""``@jit(fallback=True)``: a function that cannot be compiled runs as plain Python."""

from __future__ import annotations

from typing import Any

from ttnn_jit.calls.jit_function import JitFunction
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_user_frames, warn_user
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.ttnn.calling.foreign_operands import accepting_foreign_operands, in_callers_library


class FallbackJitFunction(JitFunction):
    """A jitted function that runs as plain Python if it cannot be compiled or run, with one warning.

    ttnn's operations accept torch tensors and numpy arrays in such a call.
    """

    _warned = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled function; if that fails, run the plain function, with a warning the first time.

        Raises:
            Exception: Any exception of the plain function.
        """
        self.fallback_used = False
        try:
            return super().__call__(*args, **kwargs)
        except TtnnJitError as error:
            self.fallback_used = True
            if not self._warned:
                self._warned = True
                warn_user(f"{self.func.__name__} runs as plain Python: {error.message}")
        try:
            with accepting_foreign_operands(self._settings.target or PRESETS["cpu"]):
                result = self._plain(*args, **kwargs)
            return in_callers_library(result, (args, kwargs))
        except TtnnJitError as error:
            keep_user_frames(error)
            raise
