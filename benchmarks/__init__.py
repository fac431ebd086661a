"""Ours beside the peers, in one run: `python -m benchmarks` from the root of the repository."""
