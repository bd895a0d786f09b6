"""Jia and Chen's figures and tables, and comparisons of our evolutionary tuners with other programs."""
