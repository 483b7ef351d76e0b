"""Devices, their memory, queues and traces, and settings of a session."""
