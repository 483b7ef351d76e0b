"""Devices, their memory, queues, semaphores and traces."""
