"""Options of bases in spaces with conditional knobs."""

from rocktune.device import DeviceSpec
from rocktune.engine.options import preload_options
from rocktune.space import load_space
from rocktune.trial import Experiment
from rocktune.workload import WorkloadSpec


def test_a_base_has_no_option_of_a_knob_that_is_inactive() -> None:
    space = load_space("full", None, 1e6)
    workload = WorkloadSpec.model_validate(
        {"name": "w", "keys": 1000, "preload": {"keys": 500}, "sessions": [{"mix": {"get": 1.0}}]}
    )
    experiment = Experiment(workload, DeviceSpec(name="none"), 1, space)
    leveled = preload_options(experiment, space.default())
    assert leveled["cf"]["max_bytes_for_level_base"] == str(256 << 20)
    assert leveled["cf"]["compression_per_level"] == "kLZ4Compression"
    changes = {"compaction_style": "kCompactionStyleUniversal", "compression": "kNoCompression"}
    changed = space.activated({**space.default(), **changes, "universal_size_ratio": 50, "bloom_bits": 0})
    universal = preload_options(experiment, changed)
    assert universal["cf"]["compaction_style"] == "kCompactionStyleUniversal"
    assert universal["cf"].keys().isdisjoint({"max_bytes_for_level_base", "compression_per_level"})
    assert universal["table"]["filter_policy"] == "bloomfilter:0"
    assert "optimize_filters_for_hits" not in universal["cf"]
    # The style's own settings act on a running store, so that all of them share the base.
    other = preload_options(experiment, changed.replaced({"universal_size_ratio": 100}))
    assert other == universal
