"""Evolutionary tuners: GA, NSGA-II, epsilon-constraint, weighted sum, SMPSO."""
