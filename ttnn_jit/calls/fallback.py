"""``@jit(fallback=True)``: what cannot be compiled runs as plain Python."""

from __future__ import annotations

from typing import Any

from ttnn_jit.calls.jit_function import JitFunction
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_users_frames, warn_the_user
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.ttnn.calling.foreign_operands import accepting_foreign_operands, in_callers_library


class FallbackJitFunction(JitFunction):
    """A jitted function that runs as plain Python where it cannot be compiled or run, and says so once.

    ttnn's operations take the torch tensors and numpy arrays of such a call as they are.
    """

    _warned = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it compiled, else as it was written, with a warning the first time.

        Raises:
            Exception: What the plain function raises, where the compiled one fails.
        """
        self.fallback_used = False
        try:
            return super().__call__(*args, **kwargs)
        except TtnnJitError as error:
            self.fallback_used = True
            if not self._warned:
                self._warned = True
                warn_the_user(f"{self.func.__name__} runs as plain Python: {error.message}")
        try:
            with accepting_foreign_operands(self._settings.target or PRESETS["cpu"]):
                result = self._plain(*args, **kwargs)
            return in_callers_library(result, (args, kwargs))
        except TtnnJitError as error:
            keep_users_frames(error)
            raise
