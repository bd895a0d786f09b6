"""Which keys operations touch, and how large values and scans are."""

from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from rocktune.spec_file import Amount, Count, KindSpec, Number, Positive, Share

MAX_PARETO_SIZE = 1 << 20


class KeyChooserSpec(KindSpec):
    """Which keys the operations touch.

    Attributes:
        kind: `zipfian` is YCSB's (Gray's method, key 0 the hottest), `scrambled_zipfian` the same with the
            hot keys spread over the key space, `latest` the same with the newest key the hottest,
            `true_zipf` the exact law for exponents above 0, `two_term_exponential` db_bench's mixgraph.
        skew: the exponent; in [0, 1) for YCSB's three, above 0 for `true_zipf`.
        hot_key_share: `hotspot`: this share of the keys, in (0, 1], ...
        hot_operation_share: ... gets this share of the operations.
        range_a: mixgraph's keyrange_dist_a; b, c, d alike: range i of `ranges` has the weight
            a*exp(b*i) + c*exp(d*i).
        range_b: see range_a.
        range_c: see range_a.
        range_d: see range_a.
        ranges: mixgraph's keyrange_num.
        key_a: mixgraph's key_dist_a: a*x^b of a range's operations go to its x hottest keys; both 0 for
            uniform.
        key_b: see key_a.
    """

    kind: Literal[
        "uniform", "zipfian", "scrambled_zipfian", "true_zipf", "hotspot", "latest", "two_term_exponential"
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
        self._require_meaningful(_KEY_CHOOSER_FIELDS[self.kind])
        if self.kind in ("zipfian", "scrambled_zipfian", "latest") and self.skew >= 1:
            raise ValueError(f"skew: {self.skew:g} is not in [0, 1); kind 'true_zipf' takes larger ones")
        if self.kind == "true_zipf" and self.skew == 0:
            raise ValueError("skew: 0 is not above 0; kind 'uniform' has no skew")
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
    "two_term_exponential": frozenset(
        {"range_a", "range_b", "range_c", "range_d", "ranges", "key_a", "key_b"}
    ),
}


class SizeSpec(KindSpec):
    """A distribution of whole numbers: bytes of a value, or entries of a scan.

    Attributes:
        kind: `fixed`, `uniform` over low .. high, or `pareto`: the generalized Pareto law rounded up, as
            db_bench's mixgraph has it, where what exceeds `high` is taken modulo `high`.
        low: `fixed`: the size; `uniform`: the smallest.
        high: `uniform` and `pareto`: the largest.
        k: shape of the Pareto law.
        sigma: its scale, above 0.
        theta: its location, the smallest value.
    """

    kind: Literal["fixed", "uniform", "pareto"] = "fixed"
    low: Count = 0
    high: Count = 0
    k: Amount = 0.0
    sigma: Amount = 0.0
    theta: Amount = 0.0

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        self._require_meaningful(_SIZE_FIELDS[self.kind])
        if self.kind == "uniform" and self.high < self.low:
            raise ValueError(f"high: {self.high} is below low, {self.low}")
        if self.kind == "pareto":
            self._check_pareto()
        return self

    def _check_pareto(self) -> None:
        if self.sigma == 0:
            raise ValueError("sigma: kind 'pareto' needs one above 0")
        if not max(self.theta, 1) <= self.high <= MAX_PARETO_SIZE:
            raise ValueError(f"high: {self.high} is not between theta and {MAX_PARETO_SIZE}")

    @property
    def mean(self) -> float:
        """The expected size."""
        if self.kind == "fixed":
            return float(self.low)
        if self.kind == "uniform":
            return (self.low + self.high) / 2
        return self._pareto_mean()

    @property
    def largest(self) -> int:
        """The largest size that occurs."""
        return self.low if self.kind == "fixed" else self.high

    def _pareto_mean(self) -> float:
        # What lies beyond a few times `high` is all but uniform modulo `high`.
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
