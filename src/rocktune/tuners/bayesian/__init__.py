"""Bayesian optimisation with Gaussian processes: single-task, multi-task, clustered, additive.

Alabed and Yoneki (EuroMLSys 2021). The models, acquisition functions and optimisers are BoTorch's, which the
extra `bo` installs; nothing of it is imported before a search asks for a suggestion.
"""
