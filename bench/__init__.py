"""Benchmarks: this library beside its peers, on the same records in one run."""
