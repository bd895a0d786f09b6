"""Benchmarks of the FLSM store, of RusKey's sections 4 and 7."""
