"""Bayesian optimisation with Gaussian processes: single-task, multi-task, clustered, additive.

After Alabed and Yoneki (EuroMLSys 2021). Models, acquisition functions and optimisers are BoTorch's, which
the extra `bo` installs. BoTorch is imported only when a search needs a suggestion, because that takes
seconds.
"""
