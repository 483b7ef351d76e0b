"""Native code: loaded, mapped, called, shared among threads, recorded in traces."""
