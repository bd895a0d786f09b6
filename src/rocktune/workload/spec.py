"""What a workload is: which operations, on which keys, of which sizes, when, and on what preloaded data.

The JSON form of these models is the worker's (`cpp/rocktune/workload/workload_spec.h`); both sides read
`tests/golden/workload_specs.json`.
"""

from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from rocktune.spec_file import Amount, Count, KindSpec, Number, Positive, Share, Spec, Switch

MIX_TOLERANCE = 1e-6
MAX_PARETO_SIZE = 1 << 20
MAX_VALUE_BYTES = 16 << 20


class MixSpec(Spec):
    """Shares of the operation kinds; they sum to 1."""

    get: Share = 0.0
    get_absent: Share = 0.0
    put: Share = 0.0
    insert: Share = 0.0
    delete: Share = 0.0
    scan: Share = 0.0
    read_modify_write: Share = 0.0

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        total = sum(self.model_dump().values())
        if abs(total - 1) > MIX_TOLERANCE:
            raise ValueError(f"the shares sum to {total:.6g}; they must sum to 1")
        return self

    @property
    def write_share(self) -> float:
        """Share of operations that write a value: puts, inserts and read-modify-writes."""
        return self.put + self.insert + self.read_modify_write


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


class ArrivalSpec(KindSpec):
    """When operations start. All rates are over all threads.

    Attributes:
        kind: `closed` (each thread's next operation starts when its last has ended), or open: `fixed_rate`,
            `sine` (operations_s + amplitude_operations_s * sin(2 pi t / period_s)), `bursts` (operations_s
            during the first on_s seconds of each period_s, nothing in the rest). t counts from the session's
            beginning.
        operations_s: operations a second; the mean of `sine`, the rate while on of `bursts`.
        amplitude_operations_s: at most operations_s.
        period_s: seconds.
        on_s: seconds, at most period_s.
    """

    kind: Literal["closed", "fixed_rate", "sine", "bursts"] = "closed"
    operations_s: Amount = 0.0
    amplitude_operations_s: Amount = 0.0
    period_s: Amount = 0.0
    on_s: Amount = 0.0

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        meaningful = _ARRIVAL_FIELDS[self.kind]
        self._require_meaningful(meaningful)
        for name in sorted(meaningful - {"amplitude_operations_s"}):
            if getattr(self, name) == 0:
                raise ValueError(f"{name}: kind '{self.kind}' needs one above 0")
        if self.amplitude_operations_s > self.operations_s:
            raise ValueError(
                f"amplitude_operations_s: {self.amplitude_operations_s:g} exceeds operations_s, "
                f"{self.operations_s:g}"
            )
        if self.on_s > self.period_s:
            raise ValueError(f"on_s: {self.on_s:g} exceeds period_s, {self.period_s:g}")
        return self

    def scaled(self, scale: int) -> "ArrivalSpec":
        """Returns the arrival with its times divided by `scale` and its rates as they are."""
        return self.model_copy(update={"period_s": self.period_s / scale, "on_s": self.on_s / scale})


_ARRIVAL_FIELDS = {
    "closed": frozenset[str](),
    "fixed_rate": frozenset({"operations_s"}),
    "sine": frozenset({"operations_s", "amplitude_operations_s", "period_s"}),
    "bursts": frozenset({"operations_s", "period_s", "on_s"}),
}


class SessionSpec(Spec):
    """A stretch of time with a mix and an arrival of its own.

    Attributes:
        seconds: its length; 0 for ever, which only the last session may have.
        mix: shares of operations.
        arrival: when they start.
    """

    seconds: Amount = 0.0
    mix: MixSpec
    arrival: ArrivalSpec = ArrivalSpec()


class PreloadSpec(Spec):
    """What the store holds at age 0.

    Attributes:
        keys: the keys 0 .. keys - 1 are there; 0 for an empty store.
        random_order: written in random order, which leaves the levels filled, instead of ascending.
    """

    keys: Count = 0
    random_order: Switch = False


class WorkloadSpec(Spec):
    """A workload.

    Attributes:
        name: what people call it.
        keys: key space at the start: the keys 0 .. keys - 1; `insert` adds to it.
        key_bytes: at least 8.
        value: bytes of a value.
        value_compressed_fraction: compressed size over size of the values, in (0, 1].
        threads: threads that issue operations.
        key_chooser: which keys.
        scan_length: entries of a scan.
        sessions: at least one; after the last the first begins again.
        preload: what the store holds at age 0.
        wal: write-ahead log on.
        sync: each write is synced.
    """

    name: str = Field(strict=True, min_length=1)
    keys: Positive
    key_bytes: int = Field(default=16, strict=True, ge=8, le=1024)
    value: SizeSpec = SizeSpec(low=1024)
    value_compressed_fraction: Amount = Field(default=0.5, gt=0, le=1)
    threads: int = Field(default=16, strict=True, ge=1, le=1024)
    key_chooser: KeyChooserSpec = KeyChooserSpec()
    scan_length: SizeSpec = SizeSpec(low=100)
    sessions: tuple[SessionSpec, ...] = Field(min_length=1)
    preload: PreloadSpec = PreloadSpec()
    wal: Switch = True
    sync: Switch = False

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.preload.keys > self.keys:
            raise ValueError(f"preload.keys: {self.preload.keys} exceeds keys, {self.keys}")
        if self.key_chooser.ranges > self.keys:
            raise ValueError(f"key_chooser.ranges: {self.key_chooser.ranges} exceeds keys, {self.keys}")
        if self.value.largest > MAX_VALUE_BYTES:
            raise ValueError(f"value: {self.value.largest} bytes exceed the largest, {MAX_VALUE_BYTES}")
        if any(session.seconds == 0 for session in self.sessions[:-1]):
            raise ValueError("sessions: only the last one may have 0 seconds, which means for ever")
        if self.sync and not self.wal:
            raise ValueError("sync: needs wal = true")
        return self

    def scaled(self, scale: int) -> "WorkloadSpec":
        """Returns the workload of the 1/scale model.

        Keys, preloaded keys, and the times of sessions and arrivals are divided; entry sizes, threads and
        rates are not. At least one key stays, and one preloaded key where there were some.

        Args:
            scale: S, at least 1; 1 returns an equal workload.
        """
        keys = max(1, self.keys // scale)
        preloaded = min(keys, -(-self.preload.keys // scale))
        sessions = tuple(
            session.model_copy(
                update={"seconds": session.seconds / scale, "arrival": session.arrival.scaled(scale)}
            )
            for session in self.sessions
        )
        ranges = min(self.key_chooser.ranges, keys)
        return self.model_copy(
            update={
                "keys": keys,
                "preload": self.preload.model_copy(update={"keys": preloaded}),
                "sessions": sessions,
                "key_chooser": self.key_chooser.model_copy(update={"ranges": ranges}),
            }
        )

    @property
    def entry_bytes(self) -> float:
        """Mean bytes of an entry, key and value."""
        return self.key_bytes + self.value.mean

    @property
    def write_share(self) -> float:
        """Share of operations that write a value, averaged over the sessions by their seconds.

        A last session that goes on for ever outweighs all others.
        """
        if self.sessions[-1].seconds == 0:
            return self.sessions[-1].mix.write_share
        total = sum(session.seconds for session in self.sessions)
        return sum(session.mix.write_share * session.seconds for session in self.sessions) / total
