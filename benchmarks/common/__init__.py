"""Shared code of all benchmarks: flags, claims, figures, and the pages of evidence."""
