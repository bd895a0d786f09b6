"""Alabed and Yoneki's figures, and comparisons of our Bayesian tuners with other programs."""
