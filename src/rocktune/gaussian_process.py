"""The Gaussian process that models figures of configurations."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel

Reals = NDArray[np.float64]


def fitted_process(features: Reals, values: Reals) -> GaussianProcessRegressor:
    """Returns a Gaussian process with a linear and a smooth part, fitted by maximum likelihood.

    The linear part learns what each knob does on its own from few rows, and goes on beyond the best of them,
    as trees cannot (docs/design/auto.md). All features share one length scale. Deterministic.

    Args:
        features: standardised features, shape (rows, features).
        values: what to predict, such as a figure's logarithm, shape (rows,).
    """
    linear = ConstantKernel(0.1) * DotProduct(1.0)
    smooth = ConstantKernel(1.0) * Matern(length_scale=8.0, length_scale_bounds=(2.0, 100.0), nu=2.5)
    noise = WhiteKernel(0.02, (1e-4, 1.0))
    process = GaussianProcessRegressor(linear + smooth + noise, normalize_y=True)
    with warnings.catch_warnings():
        # A hyper-parameter at its bound is no mistake of the user's.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return process.fit(features, values)


def without_noise(process: GaussianProcessRegressor) -> GaussianProcessRegressor:
    """Returns a fitted process whose deviations are those of the mean of runs, not of a single run."""
    # What it learned from noisy values stays; only predictions use this kernel.
    process.kernel_ = process.kernel_.k1
    return process
