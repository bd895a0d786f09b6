import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.workload import key_popularity, load_workload, workload_names
from rocktune.workload.distributions import KeyChooserSpec


def test_uniform_keys_are_one_group() -> None:
    popularity = key_popularity(KeyChooserSpec(), 50)
    assert (popularity.counts.tolist(), popularity.probabilities.tolist()) == ([50], [0.02])


def test_hotspot_by_hand() -> None:
    chooser = KeyChooserSpec(kind="hotspot", hot_key_share=0.2, hot_operation_share=0.8)
    popularity = key_popularity(chooser, 100)
    assert popularity.counts.tolist() == [20, 80]
    assert popularity.probabilities.tolist() == pytest.approx([0.04, 0.0025])


def test_zipf_by_hand() -> None:
    # Ten keys with weights 1/rank: their sum is 2.92897, so the hottest has 0.341417, the last a tenth of it.
    popularity = key_popularity(KeyChooserSpec(kind="true_zipf", skew=1.0), 10)
    assert popularity.counts.tolist() == [1] * 10
    assert popularity.probabilities[[0, 9]].tolist() == pytest.approx([0.341417, 0.0341417], rel=1e-5)


def test_groups_of_ranks_stand_for_their_ranks() -> None:
    keys, skew = 100_000, 0.99
    popularity = key_popularity(KeyChooserSpec(kind="scrambled_zipfian", skew=skew), keys)
    exact = np.arange(1, keys + 1) ** -skew
    exact /= exact.sum()
    cumulative = np.cumsum(popularity.counts).astype(int)
    shares = np.cumsum(popularity.counts * popularity.probabilities)
    assert shares == pytest.approx(np.cumsum(exact)[cumulative - 1], abs=1e-4)


@pytest.mark.parametrize("name", workload_names())
def test_every_preset_has_a_popularity(name: str) -> None:
    spec = load_workload(name).scaled(256)
    for session in spec.sessions:
        for load in spec.loads(session):
            popularity = key_popularity(load.key_chooser, spec.keys)
            assert float(popularity.counts.sum()) == pytest.approx(spec.keys)
            assert float(popularity.counts @ popularity.probabilities) == pytest.approx(1)
            assert (popularity.probabilities >= 0).all()


@given(st.integers(1, 10**7), st.sampled_from(["uniform", "zipfian", "latest", "true_zipf", "hotspot"]))
def test_probabilities_sum_to_one(keys: int, kind: str) -> None:
    settings = {} if kind in ("uniform", "hotspot") else {"skew": 0.9}
    popularity = key_popularity(KeyChooserSpec.model_validate({"kind": kind} | settings), keys)
    assert float(popularity.counts.sum()) == pytest.approx(keys)
    assert float(popularity.counts @ popularity.probabilities) == pytest.approx(1)
