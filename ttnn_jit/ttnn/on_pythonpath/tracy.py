"""A substitute for `tracy`, tt-metal's profiler, where that is not installed: its functions do nothing."""


def signpost(header: str, message: str | None = None) -> None:
    """Do nothing: there is no profile to mark."""
