"""Alabed and Yoneki's figures, and our Bayesian tuners beside other programs."""
