"""A regression model of a table, which predicts configurations that the table lacks."""

import math
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from rocktune.engine.base import RunFailed
from rocktune.errors import UserError
from rocktune.gaussian_process import fitted_process
from rocktune.table import Table, TableRow
from rocktune.trial import Configuration, Status

ALWAYS_MODELLED = ("throughput_ops_s", "read_latency_us_p99", "write_amplification")
"""Figures that every outcome shows."""
LEARNED_FROM = ("read_block_get_us_p99", "level0_to_level1_us_p99")
"""Figures that multi-task tuners learn from and that some runs lack, such as those without a compaction."""
FOLDS = 5
MIN_ROWS = 4 * FOLDS
_MAX_PROCESS_ROWS = 1000
"""Maximum number of rows for a Gaussian process, whose time grows by the cube of it."""
_MAX_LEVELS = 12
"""A knob with at most this many values in the table is categorical in the model, else numeric."""

Reals = NDArray[np.float64]


class Interpolation:
    """Predicts figures of any configuration in the table's space and adds noise like the table's.

    Every configuration gets noise that depends on the seed, even one that the table has. Otherwise a search
    could prefer measured configurations whose single run was lucky.

    Attributes:
        errors: cross-validated error of the model by figure: the root mean square of the logarithm of
            predicted over measured value, which is about the relative error.
    """

    def __init__(
        self, table: Table, required_figures: Sequence[str] = (), where_known: Sequence[str] = ()
    ) -> None:
        """Fits three models for each figure and keeps the one with the smallest 5-fold cross-validated error.

        Args:
            table: a table with at least 20 runs that are ok.
            required_figures: figures to model in addition to `ALWAYS_MODELLED`.
            where_known: figures that some runs may lack. They are missing where a classifier expects so, and
                everywhere if fewer than 20 runs have them.

        Raises:
            UserError: the table has too few runs, or a required figure is 0 or negative in some run.
        """
        sound = [row for row in table.rows if row.status is Status.OK]
        if len(sound) < MIN_ROWS:
            raise UserError(
                f"table: {len(sound)} runs are too few to interpolate; at least {MIN_ROWS} are needed"
            )
        self._knobs = table.conditions.knobs
        self._failures = _failure_model(self._knobs, table.rows)
        wanted = dict.fromkeys((*ALWAYS_MODELLED, *required_figures))
        self._fields = [field for field in wanted if all(row.figures[field] > 0 for row in sound)]
        for field in required_figures:
            if field not in self._fields:
                raise UserError(f"table: '{field}' is not above 0 in every run, so it cannot be interpolated")
        features = _features(self._knobs, [row.configuration for row in sound])
        logs = np.log([[row.figures[field] for field in self._fields] for row in sound])
        self._models, self.errors = [], {}
        for field, values in zip(self._fields, logs.T, strict=True):
            model, self.errors[field] = _best_model(features, values)
            self._models.append(model)
        self._noise = _noise_covariance(sound, logs)
        self._sparse = {
            name: _Sparse(features, sound, name)
            for name in where_known
            if name not in self._fields and sum(row.figures[name] > 0 for row in sound) >= MIN_ROWS
        }
        self._predicted: dict[Configuration, tuple[Status, Reals]] = {}

    def describe(self) -> str:
        """Returns the errors as text, such as "throughput_ops_s ±3.1%"."""
        return ", ".join(f"{field} ±{100 * error:.2g}%" for field, error in self.errors.items())

    def figures(self, configuration: Configuration, seed: int) -> Mapping[str, float]:
        """Returns the predicted figures of a run, with noise.

        Args:
            configuration: a value for each knob of the table.
            seed: decides the noise together with the configuration.

        Raises:
            RunFailed: the table's run with the nearest knobs failed.
        """
        logs = self._logs(configuration)
        rng = np.random.default_rng([seed, zlib.crc32(configuration.key.encode())])
        noise = rng.multivariate_normal(np.zeros(len(self._fields)), self._noise)
        further = [rng.normal(0, model.noise) for model in self._sparse.values()]
        return self._named(logs + np.append(noise, further))

    def expected(self, configuration: Configuration) -> Mapping[str, float]:
        """Returns the predicted figures without noise.

        Args:
            configuration: a value for each knob of the table.

        Raises:
            RunFailed: the table's run with the nearest knobs failed.
        """
        return self._named(self._logs(configuration))

    def _named(self, logs: Reals) -> dict[str, float]:
        """Returns figures by name from their logarithms; NaN, a missing one, is left out."""
        figures = zip((*self._fields, *self._sparse), np.exp(logs).tolist(), strict=True)
        return {name: value for name, value in figures if value == value}

    def _logs(self, configuration: Configuration) -> Reals:
        """Returns the logarithms of a configuration's figures without noise.

        Raises:
            RunFailed: the nearest run failed.
        """
        if configuration not in self._predicted:
            self._predicted[configuration] = self._predict(configuration)
        status, logs = self._predicted[configuration]
        if status is not Status.OK:
            raise RunFailed(status, "the nearest run of the table ended so too")
        return logs

    def _predict(self, configuration: Configuration) -> tuple[Status, Reals]:
        """Returns a configuration's status and the logarithms of its figures, without noise."""
        features = _features(self._knobs, [configuration])
        # A failure is discrete, so it is taken from the nearest run instead of being interpolated.
        status = Status.OK if self._failures is None else Status(self._failures.predict(features)[0])
        logs = [_predicted(model, features) for model in self._models]
        return status, np.array([*logs, *(model.log(features) for model in self._sparse.values())])


class _Sparse:
    """A model of a figure that some runs lack.

    Attributes:
        noise: standard deviation of the figure's logarithm between runs of equal configurations; 0 if no
            configuration has the figure twice.
    """

    def __init__(self, features: NDArray[Any], rows: Sequence[TableRow], name: str) -> None:
        """Fits a model to the runs that have the figure.

        Args:
            features: a row for each run.
            rows: the runs, of which at least `MIN_ROWS` have the figure.
            name: name of the figure.
        """
        known = np.array([row.figures[name] > 0 for row in rows])
        having = [row for row, use in zip(rows, known, strict=True) if use]
        logs = np.log([[row.figures[name]] for row in having])
        self._model, _ = _best_model(features[known], logs[:, 0])
        self._known = None
        if not known.all():
            # All features at each split, because few of them decide.
            trees = ExtraTreesClassifier(100, min_samples_leaf=2, max_features=None, random_state=0)
            self._known = make_pipeline(_encoder(features), trees).fit(features, known)
        self.noise = float(np.sqrt(_noise_covariance(having, logs)[0, 0]))

    def log(self, features: NDArray[Any]) -> float:
        """Returns the predicted logarithm for one row of features; NaN where a run would lack the figure."""
        if not self._is_known(features):
            return math.nan
        return _predicted(self._model, features)

    def _is_known(self, features: NDArray[Any]) -> bool:
        """Returns whether a run with one row of features would have the figure."""
        if self._known is None:
            return True
        shares = _mean_of_trees(self._known, features, "predict_proba")[0]
        return bool(self._known[-1].classes_[np.argmax(shares)])


def _predicted(model: Any, features: NDArray[Any]) -> float:
    """Returns a model's prediction for one row of features."""
    if isinstance(model[-1], ExtraTreesRegressor):
        return float(_mean_of_trees(model, features, "predict")[0])
    return float(model.predict(features)[0])


def _mean_of_trees(model: Any, features: NDArray[Any], method: str) -> Reals:
    """Returns the mean over the trees of a forest of what a method of theirs predicts.

    The forest's own method does the same by a scheduler, which takes ten times as long for one row.

    Args:
        model: a pipeline that ends with a forest.
        features: shape (rows, knobs).
        method: "predict" or "predict_proba".
    """
    rows = np.asarray(model[:-1].transform(features), dtype=np.float32)
    trees = model[-1].estimators_
    total: Reals = sum(getattr(tree, method)(rows, check_input=False) for tree in trees)
    return total / len(trees)


def _features(knobs: Mapping[str, str], configurations: Sequence[Configuration]) -> NDArray[Any]:
    """Returns a row of features for each configuration, in the order of `knobs`, which have types.

    Numbers above 0 become base-2 logarithms, because knobs act by ratios; others become -1. An inactive knob
    has a value of its own: 0, or an empty word.
    """
    columns = []
    for name, kind in knobs.items():
        values = [configuration.get(name) for configuration in configurations]
        if kind == "str":
            columns.append(np.array([value or "" for value in values], dtype=object))
        else:
            numbers = np.array([0.0 if value is None else float(value) for value in values])
            # The maximum only keeps log2 from warning; `where` discards its result.
            columns.append(np.where(numbers > 0, np.log2(np.maximum(numbers, 1e-300)), -1.0).astype(object))
    return np.array(columns, dtype=object).T


def _encoder(features: NDArray[Any]) -> Any:
    """Returns a transformer of features to numbers: one-hot for knobs with few values, else cubic terms."""
    levels = [len(set(column)) for column in features.T]
    few = [index for index, count in enumerate(levels) if count <= _MAX_LEVELS]
    many = [index for index, count in enumerate(levels) if count > _MAX_LEVELS]
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), few),
        (make_pipeline(StandardScaler(), PolynomialFeatures(3, include_bias=False)), many),
    )


def _best_model(features: NDArray[Any], values: Reals) -> tuple[Any, float]:
    """Returns the fitted model with the smallest cross-validated error, and that error."""
    candidates = [
        make_pipeline(
            _encoder(features),
            PolynomialFeatures(2, interaction_only=True, include_bias=False),
            RidgeCV(np.logspace(-3, 3, 13)),
        ),
        make_pipeline(
            _encoder(features),
            ExtraTreesRegressor(100, min_samples_leaf=2, max_features=0.5, random_state=0),
        ),
    ]
    if len(values) <= _MAX_PROCESS_ROWS:
        candidates.append(_process(features, values))
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    errors = [
        float(np.sqrt(np.mean((cross_val_predict(model, features, values, cv=folds) - values) ** 2)))
        for model in candidates
    ]
    best = int(np.argmin(errors))
    return candidates[best].fit(features, values), errors[best]


def _process(features: NDArray[Any], values: Reals) -> Any:
    """Returns a Gaussian process whose hyper-parameters fit all rows.

    They are few for so many rows, so that folds may share them.
    """
    words = [index for index, column in enumerate(features.T) if isinstance(column[0], str)]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words), remainder="passthrough"
    )
    numbers = make_pipeline(encoder, StandardScaler())
    kernel = fitted_process(numbers.fit_transform(features), values).kernel_
    return make_pipeline(numbers, GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True))


def _noise_covariance(rows: Sequence[TableRow], logs: Reals) -> Reals:
    """Returns the covariance of the figures' logarithms between runs of equal configurations.

    It is 0 if the table has no repeated configuration.
    """
    indexes = defaultdict(list)
    for index, row in enumerate(rows):
        indexes[row.configuration].append(index)
    repeated = [logs[group] - logs[group].mean(axis=0) for group in indexes.values() if len(group) > 1]
    if not repeated:
        return np.zeros((logs.shape[1], logs.shape[1]))
    residuals = np.vstack(repeated)
    # One degree of freedom is lost for the mean of each configuration.
    return np.asarray(residuals.T @ residuals / (len(residuals) - len(repeated)))


def _failure_model(knobs: Mapping[str, str], rows: Sequence[TableRow]) -> Any | None:
    """Returns a model that predicts the status of the nearest run; None if no run failed."""
    if all(row.status is Status.OK for row in rows):
        return None
    features = _features(knobs, [row.configuration for row in rows])
    model = make_pipeline(_encoder(features), KNeighborsClassifier(1))
    return model.fit(features, [str(row.status) for row in rows])
