"""Ranks: processes that share a mesh of devices or exchange tensors by sockets.

`rank_environment` says which rank this process is. `rank_run` has the ranks of a run, `member` describes one, and `world` is
the run that this process has joined. A `Transport`
moves bytes between them: `process_group` by torch.distributed, `in_process` between threads. A `channel` orders and
checks the exchanges of one mesh or socket, and `flight_record` keeps the last of them in a file that outlives the
process.
"""
