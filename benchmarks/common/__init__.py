"""What all benchmarks share: their flags, claims, figures and the pages of evidence."""
