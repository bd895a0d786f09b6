"""Draws of the C++ library against the laws that SciPy has."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rocktune.workload import WorkloadSpec
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

native = pytest.importorskip("rocktune._native", reason="the native extension is not built")

DRAWS = 200_000
# At fixed seeds the tests repeat exactly; the level says how unusual the seeds would have to be.
LEVEL = 1e-3


def workload(
    keys: int = 1000,
    chooser: KeyChooserSpec | None = None,
    value: SizeSpec | None = None,
    mix: MixSpec | None = None,
    arrival: ArrivalSpec | None = None,
    threads: int = 4,
) -> WorkloadSpec:
    session = SessionSpec(mix=mix or MixSpec(put=1.0), arrival=arrival or ArrivalSpec())
    return WorkloadSpec(
        name="test",
        keys=keys,
        key_chooser=chooser or KeyChooserSpec(),
        value=value or SizeSpec(low=100),
        sessions=(session,),
        threads=threads,
    )


def draws(
    spec: WorkloadSpec, field: str, count: int = DRAWS, seed: int = 1, thread: int = 0
) -> NDArray[np.int64]:
    return np.asarray(native.sample_operations(spec.model_dump_json(), seed, thread, count)[field])


def chi_square_p(values: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    observed = np.bincount(values.astype(np.int64), minlength=len(probabilities))
    return float(stats.chisquare(observed, probabilities / probabilities.sum() * len(values)).pvalue)


def zipf_probabilities(keys: int, exponent: float) -> NDArray[np.float64]:
    weights = np.arange(1, keys + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def test_uniform_keys() -> None:
    assert chi_square_p(draws(workload(), "key"), np.full(1000, 1e-3)) > LEVEL


@pytest.mark.parametrize("exponent", [0.3, 0.99, 1.0, 1.5, 2.5])
def test_true_zipf_is_exact(exponent: float) -> None:
    chooser = KeyChooserSpec(kind="true_zipf", skew=exponent)
    keys = draws(workload(keys=200, chooser=chooser), "key")
    probabilities = zipf_probabilities(200, exponent)
    # What would be drawn less than ten times is counted together.
    rare = probabilities * DRAWS < 10
    merged = np.append(probabilities[~rare], probabilities[rare].sum()) if rare.any() else probabilities
    assert chi_square_p(np.minimum(keys.astype(np.int64), len(merged) - 1), merged) > LEVEL


def gray_probabilities(keys: int, skew: float) -> NDArray[np.float64]:
    """What Gray's method gives each rank: 0 and 1 exactly, the others by a power law fitted to both ends."""
    exact = zipf_probabilities(keys, skew)
    two = exact[:2].sum()
    eta = (1 - (2 / keys) ** (1 - skew)) / (1 - two)
    # Rank r is what n * (eta * u - eta + 1)^(1 / (1 - skew)) is cut to: up to r for the u below this bound.
    ends = np.maximum(two, 1 + ((np.arange(1, keys + 1) / keys) ** (1 - skew) - 1) / eta)
    below = np.concatenate([np.cumsum(exact[:2]), ends[2:]])
    return np.diff(below, prepend=0.0)


@pytest.mark.parametrize("skew", [0.0, 0.3, 0.6, 0.9, 0.99])
def test_zipfian_is_grays_method(skew: float) -> None:
    ranks = draws(workload(chooser=KeyChooserSpec(kind="zipfian", skew=skew)), "key")
    assert chi_square_p(ranks, gray_probabilities(1000, skew)) > LEVEL


@pytest.mark.parametrize("skew", [0.0, 0.3, 0.6, 0.9, 0.99])
def test_zipfian_is_within_a_fiftieth_of_the_exact_law(skew: float) -> None:
    # Gray's method approximates the ranks from 2 on, so that a test for equality would reject it.
    ranks = draws(workload(keys=10_000, chooser=KeyChooserSpec(kind="zipfian", skew=skew)), "key")
    drawn = np.cumsum(np.bincount(ranks.astype(np.int64), minlength=10_000)) / DRAWS
    assert np.abs(drawn - np.cumsum(zipf_probabilities(10_000, skew))).max() < 0.02


def test_zipfian_without_skew_is_uniform() -> None:
    keys = draws(workload(chooser=KeyChooserSpec(kind="zipfian", skew=0.0)), "key")
    assert chi_square_p(keys, np.full(1000, 1e-3)) > LEVEL


def test_a_test_of_the_wrong_law_fails() -> None:
    keys = draws(workload(keys=200, chooser=KeyChooserSpec(kind="true_zipf", skew=1.0)), "key")
    assert chi_square_p(keys, zipf_probabilities(200, 1.05)) < LEVEL


def test_hotspot() -> None:
    chooser = KeyChooserSpec(kind="hotspot", hot_key_share=0.2, hot_operation_share=0.8)
    probabilities = np.where(np.arange(1000) < 200, 0.8 / 200, 0.2 / 800)
    assert chi_square_p(draws(workload(chooser=chooser), "key"), probabilities) > LEVEL


def test_two_term_exponential_ranges() -> None:
    chooser = KeyChooserSpec(
        kind="two_term_exponential", range_a=1.0, range_b=-0.5, range_c=0.2, range_d=-0.05, ranges=10
    )
    keys = draws(workload(chooser=chooser), "key").astype(np.int64)
    order = np.arange(1, 11)
    weights = np.exp(-0.5 * order) + 0.2 * np.exp(-0.05 * order)
    # Which place has which weight is the library's; the shares in order of size are the law's.
    observed = np.sort(np.bincount(keys // 100, minlength=10))[::-1]
    expected = weights / weights.sum() * DRAWS
    assert stats.chisquare(observed, expected).pvalue > LEVEL


def test_uniform_sizes() -> None:
    sizes = draws(workload(value=SizeSpec(kind="uniform", low=1, high=100)), "value_bytes").astype(np.int64)
    assert chi_square_p(sizes - 1, np.full(100, 0.01)) > LEVEL


@pytest.mark.parametrize(("k", "sigma", "theta"), [(0.2615, 25.45, 0.0), (0.0, 50.0, 10.0)])
def test_pareto_sizes(k: float, sigma: float, theta: float) -> None:
    high = 1 << 20
    value = SizeSpec(kind="pareto", high=high, k=k, sigma=sigma, theta=theta)
    sizes = draws(workload(value=value), "value_bytes").astype(np.int64)
    edges = np.arange(0, 400, 10, dtype=np.float64)
    law = stats.genpareto(c=k, scale=sigma, loc=theta)
    probabilities = np.append(np.diff(law.cdf(edges)), law.sf(edges[-1]))
    bins = np.minimum(np.ceil(sizes / 10).astype(np.int64) - 1, len(probabilities) - 1)
    drawable = probabilities > 0
    assert not np.any(np.isin(bins, np.flatnonzero(~drawable)))
    observed = np.bincount(bins, minlength=len(probabilities))[drawable]
    assert stats.chisquare(observed, probabilities[drawable] * DRAWS).pvalue > LEVEL


@pytest.mark.parametrize(
    "value",
    [
        SizeSpec(low=400),
        SizeSpec(kind="uniform", low=1, high=100),
        SizeSpec(kind="pareto", high=1024, k=0.2615, sigma=25.45),
        # Nearly a third of the draws exceeds the largest size and wraps around.
        SizeSpec(kind="pareto", high=50, k=0.2615, sigma=25.45),
        SizeSpec(kind="pareto", high=100, k=0.0, sigma=50.0, theta=10.0),
    ],
)
def test_mean_sizes_are_the_specs(value: SizeSpec) -> None:
    sizes = draws(workload(value=value), "value_bytes")
    standard_error = sizes.std() / np.sqrt(len(sizes))
    assert abs(sizes.mean() - value.mean) <= 4 * standard_error
    assert sizes.max() <= value.max_size


def test_mix() -> None:
    mix = MixSpec(get=0.3, get_absent=0.1, put=0.2, insert=0.1, delete=0.05, scan=0.05, read_modify_write=0.2)
    kinds = draws(workload(mix=mix), "kind")
    assert chi_square_p(kinds, np.array(list(mix.model_dump().values()))) > LEVEL


@pytest.mark.parametrize("thread", [0, 3])
def test_sine_brings_the_mean_rate_in_every_period(thread: int) -> None:
    arrival = ArrivalSpec(kind="sine", operations_s=400.0, amplitude_operations_s=300.0, period_s=10.0)
    starts_s = draws(workload(arrival=arrival), "intended_start_ns", 5000, thread=thread) / 1e9
    # 400 a second over four threads: 1,000 in each period of 10 s.
    assert np.bincount((starts_s // 10).astype(np.int64)).tolist() == [1000] * 5
    # The first half period has 2000 + 300 * 10 / pi = 2954.93 of all threads' 4,000.
    assert abs(np.count_nonzero(starts_s < 5) - 2954.93 / 4) <= 1


@pytest.mark.parametrize(
    "arrival",
    [
        ArrivalSpec(kind="fixed_rate", operations_s=1000.0),
        ArrivalSpec(kind="sine", operations_s=1000.0, amplitude_operations_s=1000.0, period_s=3.0),
        ArrivalSpec(kind="bursts", operations_s=1000.0, period_s=2.0, on_s=0.5),
    ],
)
def test_threads_are_staggered_and_their_starts_ascend(arrival: ArrivalSpec) -> None:
    spec = workload(arrival=arrival, threads=3)
    starts = [draws(spec, "intended_start_ns", 1000, thread=thread) for thread in range(3)]
    assert all(np.all(np.diff(of_thread) > 0) for of_thread in starts)
    in_turn = np.stack(starts, axis=1).ravel()
    assert np.all(np.diff(in_turn) > 0)


def test_bursts_keep_to_their_on_time() -> None:
    arrival = ArrivalSpec(kind="bursts", operations_s=1000.0, period_s=2.0, on_s=0.5)
    starts_s = draws(workload(arrival=arrival), "intended_start_ns", 1000) / 1e9
    assert np.all(starts_s % 2 < 0.5)
    # 1,000 a second for half a second over four threads.
    assert np.bincount((starts_s // 2).astype(np.int64)).tolist() == [125] * 8


def test_a_seed_and_a_thread_repeat_and_others_differ() -> None:
    spec = workload(keys=1_000_000)
    first = draws(spec, "key", 1000)
    assert np.array_equal(first, draws(spec, "key", 1000))
    assert np.count_nonzero(first == draws(spec, "key", 1000, seed=2)) < 5
    assert np.count_nonzero(first == draws(spec, "key", 1000, thread=1)) < 5


def test_threads_are_independent() -> None:
    chooser = KeyChooserSpec(kind="zipfian", skew=0.5)
    first, second = (draws(workload(chooser=chooser), "key", thread=thread) for thread in (0, 1))
    correlation = np.corrcoef(stats.rankdata(first), stats.rankdata(second))[0, 1]
    # Its standard deviation for independent draws is 1 / sqrt(200,000) = 0.0022.
    assert abs(correlation) < 0.009


def test_errors_are_one_line() -> None:
    with pytest.raises(ValueError, match=r"^kyes: unknown field; remove it or correct its name$"):
        native.sample_operations('{"kyes": 1, "sessions": [{"mix": {"get": 1.0}}]}', 1, 0, 1)
    with pytest.raises(ValueError, match=r"^thread: "):
        native.sample_operations(workload().model_dump_json(), 1, 4, 1)


def test_the_linked_rocksdb_says_its_version() -> None:
    assert [part.isdigit() for part in native.rocksdb_version().split(".")] == [True] * 3
    assert isinstance(native.assertions(), bool)
