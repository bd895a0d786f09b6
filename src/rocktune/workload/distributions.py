"""The distributions of keys, value sizes and scan lengths."""

from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from rocktune.spec_file import Amount, Count, KindSpec, Number, Positive, Share

MAX_PARETO_SIZE = 1 << 20
"""Maximum `high` of a Pareto size, because `SizeSpec.mean` sums over all sizes."""


class KeyChooserSpec(KindSpec):
    """The distribution of the keys that operations access.

    Attributes:
        kind: `uniform`; `zipfian`, YCSB's (Gray's method, key 0 is the hottest); `scrambled_zipfian`, the
            same with the hot keys spread over the key space; `latest`, the same with the newest key the
            hottest; `true_zipf`, the exact Zipf distribution; `hotspot`; `two_term_exponential`, that of
            db_bench's mixgraph; or `oldest`, that of a queue. With `oldest`, deletes remove the keys in the
            order in which they were inserted, scans begin before the oldest key, and other operations access
            it.
        skew: the Zipf exponent, in [0, 1) for YCSB's three kinds, above 0 for `true_zipf`.
        hot_key_share: share of the keys that are hot with `hotspot`, in (0, 1].
        hot_operation_share: share of the operations that access hot keys with `hotspot`.
        range_a: mixgraph's keyrange_dist_a. Range i of `ranges` has the weight a*exp(b*i) + c*exp(d*i), with
            a to d from range_a to range_d.
        range_b: mixgraph's keyrange_dist_b, see range_a.
        range_c: mixgraph's keyrange_dist_c, see range_a.
        range_d: mixgraph's keyrange_dist_d, see range_a.
        ranges: mixgraph's keyrange_num, the number of key ranges.
        key_a: mixgraph's key_dist_a. The x hottest keys of a range get a*x^b of its operations, with a and b
            from key_a and key_b. Both are 0 for uniform keys.
        key_b: mixgraph's key_dist_b, see key_a.
    """

    kind: Literal[
        "uniform",
        "zipfian",
        "scrambled_zipfian",
        "true_zipf",
        "hotspot",
        "latest",
        "two_term_exponential",
        "oldest",
    ] = "uniform"
    skew: Amount = 0.0
    hot_key_share: Share = 0.2
    hot_operation_share: Share = 0.8
    range_a: Number = 0.0
    range_b: Number = 0.0
    range_c: Number = 0.0
    range_d: Number = 0.0
    ranges: Positive = 1
    key_a: Amount = 0.0
    key_b: Amount = 0.0

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Checks that only the fields of this kind are set, with values in their ranges."""
        self._require_meaningful(_KEY_CHOOSER_FIELDS[self.kind])
        # Gray's method approximates the Zipf distribution with a formula that divides by 1 - skew.
        if self.kind in ("zipfian", "scrambled_zipfian", "latest") and self.skew >= 1:
            raise ValueError(f"skew: {self.skew:g} is not in [0, 1); use kind 'true_zipf' for larger ones")
        if self.kind == "true_zipf" and self.skew == 0:
            raise ValueError("skew: 0 is not above 0; use kind 'uniform' for no skew")
        if self.kind == "hotspot" and self.hot_key_share == 0:
            raise ValueError("hot_key_share: 0 is not above 0")
        if (self.key_a == 0) != (self.key_b == 0):
            raise ValueError("key_a and key_b: either both are 0 (uniform) or both above 0")
        return self


_SKEW = frozenset({"skew"})
_KEY_CHOOSER_FIELDS = {
    "uniform": frozenset[str](),
    "zipfian": _SKEW,
    "scrambled_zipfian": _SKEW,
    "true_zipf": _SKEW,
    "latest": _SKEW,
    "hotspot": frozenset({"hot_key_share", "hot_operation_share"}),
    "oldest": frozenset(),
    "two_term_exponential": frozenset(
        {"range_a", "range_b", "range_c", "range_d", "ranges", "key_a", "key_b"}
    ),
}


class SizeSpec(KindSpec):
    """A distribution of whole numbers: bytes of a value, entries of a scan, or keys of a deleted range.

    Attributes:
        kind: `fixed`, `uniform` over low .. high, or `pareto`, the generalized Pareto distribution of
            db_bench's mixgraph. Its values are rounded up, and those above `high` are taken modulo `high`.
        low: the size (`fixed`) or the minimum (`uniform`).
        high: the maximum (`uniform` and `pareto`).
        k: shape of the Pareto distribution.
        sigma: scale of the Pareto distribution, above 0.
        theta: location of the Pareto distribution, its minimum before rounding.
    """

    kind: Literal["fixed", "uniform", "pareto"] = "fixed"
    low: Count = 0
    high: Count = 0
    k: Amount = 0.0
    sigma: Amount = 0.0
    theta: Amount = 0.0

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Checks that only the fields of this kind are set, with values in their ranges."""
        self._require_meaningful(_SIZE_FIELDS[self.kind])
        if self.kind == "uniform" and self.high < self.low:
            raise ValueError(f"high: {self.high} is below low, {self.low}")
        if self.kind == "pareto":
            self._check_pareto()
        return self

    def _check_pareto(self) -> None:
        """Checks the fields of kind `pareto`."""
        if self.sigma == 0:
            raise ValueError("sigma: kind 'pareto' needs a value above 0")
        if not max(self.theta, 1) <= self.high <= MAX_PARETO_SIZE:
            raise ValueError(f"high: {self.high} is not between theta and {MAX_PARETO_SIZE}")

    @property
    def mean(self) -> float:
        """The mean size."""
        if self.kind == "fixed":
            return float(self.low)
        if self.kind == "uniform":
            return (self.low + self.high) / 2
        return self._pareto_mean()

    @property
    def max_size(self) -> int:
        """The largest possible size."""
        return self.low if self.kind == "fixed" else self.high

    def _pareto_mean(self) -> float:
        """Returns the mean of kind `pareto` with its wrapping at `high`."""
        # The sum ends at 4 * high. Larger sizes are almost uniform modulo `high`, with mean (high - 1) / 2.
        sizes = np.arange(0, 4 * self.high + 1)
        excess = np.maximum(sizes - self.theta, 0) / self.sigma
        above = np.exp(-excess) if self.k == 0 else (1 + self.k * excess) ** (-1 / self.k)
        sizes = sizes[1:]
        wrapped = np.where(sizes > self.high, sizes % self.high, sizes)
        return float(-np.diff(above) @ wrapped + above[-1] * (self.high - 1) / 2)


_SIZE_FIELDS = {
    "fixed": frozenset({"low"}),
    "uniform": frozenset({"low", "high"}),
    "pareto": frozenset({"high", "k", "sigma", "theta"}),
}
