"""Experiments without a search: a store with fixed options."""

from rocktune.device import DeviceSpec
from rocktune.space import CATALOGUE, Space
from rocktune.space.options import knob_values
from rocktune.trial import Experiment, OptionMaps
from rocktune.workload import WorkloadSpec


def plain_experiment(
    workload: WorkloadSpec, device: DeviceSpec, scale: int, options: OptionMaps, base_seed: int = 0
) -> Experiment:
    """Returns an experiment that opens a store with fixed options and has no knobs.

    Its memory budget is the size of the memtables and the block cache in `options`.

    Args:
        workload: workload at full size.
        device: device; never scaled.
        scale: S.
        options: RocksDB options by section, at full size.
        base_seed: seed of the preloaded data, see `Experiment`.
    """
    # RocksDB's own defaults stand in for options that are not given.
    names = ("write_buffer_size", "max_write_buffer_number", "block_cache")
    buffer_bytes, buffers, cache_bytes = (
        int(value) for value in knob_values(options, (CATALOGUE[name] for name in names)).values()
    )
    space = Space("plain", "fixed options", (), buffer_bytes * buffers + cache_bytes)
    return Experiment(workload, device, scale, space, options, base_seed=base_seed)
