"""Measurements of speed and accuracy, and the fits of the constants of the kernels.

Each module with a command line is run as ``python -m benchmarks.<name>`` from the repository's root, which puts this
package before any other of its name; ``python -m benchmarks.run`` runs those that measure speed.
"""
