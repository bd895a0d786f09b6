"""Dremel in the space `full`: features of both styles, and searches of a modelled store."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from rocktune.space import Configuration, Space, Value, load_space, space_document, space_from_document
from rocktune.testing.modelled import ModelledStore
from rocktune.testing.tuners import drive, synthetic_problem
from rocktune.tuners import Problem
from rocktune.tuners.dremel import Dremel, DremelSettings, pooled_configurations

MIB = 1 << 20
ENTRIES = 1e7
FULL = load_space("full", None, ENTRIES)
SMALL = DremelSettings(pool=1000)
WRITES = ModelledStore(FULL, read_share=0.1)


def problem_in(space: Space) -> Problem:
    return replace(synthetic_problem(scale=1), space=space, baseline=space.default())


def features(*configurations: Configuration, space: Space = FULL) -> list[dict[str, float]]:
    rng = np.random.default_rng(3)
    return [place.features for place in pooled_configurations(problem_in(space), SMALL, rng, configurations)]


def is_universal(configuration: Configuration) -> bool:
    return configuration["compaction_style"] == "kCompactionStyleUniversal"


def universal(**changes: Value) -> Configuration:
    values: dict[str, Value] = {"compaction_style": "kCompactionStyleUniversal", **changes}
    return FULL.activated(dict(FULL.default()) | values)


def test_universal_features_by_hand() -> None:
    changes = {"universal_size_ratio": 100, "universal_max_size_amplification_percent": 50}
    (found,) = features(universal(**changes, block_size=4096, bloom_bits=8, max_background_jobs=8))
    # The default has C = 4, M = 2, W = 64 MiB. G = 3, Z = 2, b = 512 MiB; N (K+V) = 10.4e9 bytes.
    # #Step = 1 + log_3(10.4e9 / (3 * 536870912)) = 1 + log_3 6.457 = 2.698.
    # (3 - 3^-0.698) / 2 + 3 * 3^-1.698 = 1.2677 + 0.4646 = 1.7323. 6 of 8 jobs compact: 6 / 2.698 * 1.7323.
    assert found["compaction_frequency"] == pytest.approx(3.8525 / (512 * MIB), rel=1e-3)
    # 1 / (4 * 2 * 64 MiB) + 1 / (6 * 64 MiB * 2 flushes) = (1/8 + 1/12) / 64 MiB.
    assert found["write_buffer_full_frequency"] == pytest.approx(5 / 24 / (64 * MIB))
    assert found["read_sstable_cost"] == pytest.approx(4 / 4096)
    # 1000 MiB - 6 * 64 MiB, less filters of 8 bits a key and 24 bytes of index a block.
    held_bytes = ENTRIES + 24 * 10.4e9 / 4096
    assert found["block_cache_hit_rate"] == pytest.approx(616 * MIB - held_bytes)


def test_jobs_enter_both_frequencies() -> None:
    default = FULL.default()
    few, many = features(
        default.replaced({"max_background_jobs": 2}), default.replaced({"max_background_jobs": 16})
    )
    # 1 and 12 of them compact, 1 and 4 flush.
    assert many["compaction_frequency"] / few["compaction_frequency"] == pytest.approx(12)
    difference = few["write_buffer_full_frequency"] - many["write_buffer_full_frequency"]
    assert difference == pytest.approx((1 - 1 / 4) / (6 * 64 * MIB))


def test_an_index_outside_the_cache_takes_no_room() -> None:
    own = {"db": {}, "cf": {}, "table": {"cache_index_and_filter_blocks": "false"}}
    space = space_from_document(space_document("full"), 1000 * MIB, ENTRIES, own)
    (outside,) = features(FULL.default(), space=space)
    (inside,) = features(FULL.default())
    # Ten bits a key are counted on both sides.
    assert outside["block_cache_hit_rate"] == pytest.approx(616 * MIB - 12.5e6)
    assert outside["block_cache_hit_rate"] - inside["block_cache_hit_rate"] == pytest.approx(
        24 * 10.4e9 / 4096
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"compression": "kNoCompression"},
        {"filter_kind": "ribbon"},
        {"optimize_filters_for_hits": True},
        {"enable_blob_files": True},
        {"max_subcompactions": 8},
    ],
)
def test_what_the_features_do_not_see(changes: dict[str, Value]) -> None:
    default = FULL.default()
    plain, changed = features(default, FULL.activated(dict(default) | changes))
    assert plain == changed


def correlation(configurations: Sequence[Configuration]) -> float:
    """Rank correlation of the frequency, for equal threads, with the modelled amplification of writes."""
    threads = FULL.columns(configurations)["max_background_compactions"]
    frequencies = [each["compaction_frequency"] for each in features(*configurations)] / threads
    amplifications = [WRITES.amplification(each).total for each in configurations]
    return float(spearmanr(frequencies, amplifications)[0])


def test_the_frequency_orders_configurations_as_the_model_of_compactions_does() -> None:
    drawn = FULL.sample(150, np.random.default_rng(5))
    # The model does not know limits of reads.
    merged = [each for each in drawn if is_universal(each) and each["universal_max_read_amp"] == -1]
    assert correlation(merged) > 0.7


def test_the_frequency_has_one_scale_for_both_styles() -> None:
    drawn = FULL.sample(150, np.random.default_rng(5))
    assert correlation(drawn) > 0.5
    frequencies = [each["compaction_frequency"] for each in features(*drawn)]
    amplifications = [WRITES.amplification(each).total for each in drawn]
    merged = np.array([is_universal(each) for each in drawn])
    for figures in (np.array(frequencies), np.array(amplifications)):
        assert np.median(figures[merged]) < np.median(figures[~merged])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_search_of_writes_finds_universal_compaction(seed: int) -> None:
    transcript = drive(Dremel(SMALL).search(problem_in(FULL), np.random.default_rng(seed)), WRITES)
    first = [is_universal(trial.configuration) for trial in transcript.batches[0].trials]
    assert 0 < sum(first) < len(first)
    best = max(transcript.configurations, key=WRITES.throughput_ops_s)
    assert is_universal(best)
    assert WRITES.throughput_ops_s(best) > 1.3 * WRITES.throughput_ops_s(FULL.default())
