"""Tuners that breed or move a population: GA, NSGA-II, epsilon-constraint, weighted sum, SMPSO."""
