"""An experiment without a search: a store with the options that it is given."""

from rocktune.device import DeviceSpec
from rocktune.space import CATALOGUE, Space
from rocktune.space.options import knob_values
from rocktune.trial import Experiment, OptionMaps
from rocktune.workload import WorkloadSpec


def plain_experiment(
    workload: WorkloadSpec, device: DeviceSpec, scale: int, options: OptionMaps, base_seed: int = 0
) -> Experiment:
    """Returns the experiment of a store with these options and no knobs.

    Its memory budget is what the options' memtables and cache take.

    Args:
        workload: at full size; likewise `options`.
        device: never scaled.
        scale: S.
        options: of the store.
        base_seed: of what is preloaded, see `Experiment`.
    """
    names = ("write_buffer_size", "max_write_buffer_number", "block_cache")
    buffer_bytes, buffers, cache_bytes = (
        int(value) for value in knob_values(options, (CATALOGUE[name] for name in names)).values()
    )
    space = Space("plain", "what the user gives", (), buffer_bytes * buffers + cache_bytes)
    return Experiment(workload, device, scale, space, options, base_seed)
