"""Ranks: processes that share a mesh of devices, or exchange tensors by sockets.

`rank_environment` says which rank this process is, and `member` describes one. `rank_run` has the ranks of a run, and
`world` the run that this process has joined. A `Transport` moves bytes between ranks: `process_group` by
torch.distributed, `in_process` between threads. A `channel` orders and checks the exchanges of one mesh or socket;
`mesh_ranks` says which rank has which device. `flight_record` keeps the last exchanges in memory that outlives a rank,
and `termination` turns the launcher's SIGTERM into an error.
"""
