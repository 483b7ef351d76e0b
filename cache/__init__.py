"""Where compiled programs wait to be run again: by key in memory and on disk, with counters."""
