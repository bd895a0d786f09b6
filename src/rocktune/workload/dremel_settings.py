"""The 18 settings of Dremel's evaluation (section 5.1): 15 workloads, on one or two devices each.

All have 16 threads, 16-byte keys and 1,024-byte values (Nutanix: 400). The paper leaves these open, so they
are our choice: 10 million keys, YCSB's scrambled Zipfian, db_bench's compressibility of one half, WAL on,
scans of 1 to 100 entries. Preloading writes all keys in ascending order, 10.4 GB, which db_bench's `fillseq`
does in a little under two minutes at 100 MB/s. Without preloading, a get of a key that was not written yet
misses. The production workloads are not preloaded, because the paper mentions it only for three others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

KEYS = 10_000_000


@dataclass(frozen=True)
class DremelSetting:
    """A setting of Dremel's evaluation: a workload on a device.

    Attributes:
        name: unique name; that of the workload, with "-200mb" if it is the workload's second device.
        workload: name of a workload preset.
        device: name of a device preset.
    """

    name: str
    workload: str
    device: str


def dremel_settings() -> tuple[DremelSetting, ...]:
    """Returns the 18 settings in the order of the paper's figure 8."""
    slow, fast = "ssd-100mb", "ssd-200mb"
    initial = [_synthetic_name(False, skew, get) for skew in (0.3, 0.6, 0.9) for get in (30, 60, 90)]
    preloaded = [_synthetic_name(True, 0.9, get) for get in (30, 60, 90)]
    faster = [_synthetic_name(False, 0.9, get) for get in (30, 60, 90)]
    production = (("dremel-ycsb-a", fast), ("dremel-ycsb-b", fast), ("dremel-nutanix", slow))
    return (
        *(DremelSetting(name, name, slow) for name in (*initial, *preloaded)),
        *(DremelSetting(f"{name}-200mb", name, fast) for name in faster),
        *(DremelSetting(name, name, device) for name, device in production),
    )


def dremel_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields (summary, workload) pairs: the settings' 15 workloads, and three of them under simpler names."""
    for skew in (0.3, 0.6, 0.9):
        for get in (30, 60, 90):
            yield _synthetic(_synthetic_name(False, skew, get), False, skew, get)
    for get in (30, 60, 90):
        yield _synthetic(_synthetic_name(True, 0.9, get), True, 0.9, get)
    yield (
        "Dremel's YCSB-A: 50% get, 50% put, Zipf 0.5",
        _spec("dremel-ycsb-a", 0.5, MixSpec(get=0.5, put=0.5)),
    )
    yield (
        "Dremel's YCSB-B: 95% get, 5% put, Zipf 0.5",
        _spec("dremel-ycsb-b", 0.5, MixSpec(get=0.95, put=0.05)),
    )
    nutanix = _spec("dremel-nutanix", 0.5, MixSpec(get=0.57, put=0.41, scan=0.02), value_bytes=400)
    yield "Dremel's Nutanix: 57% get, 41% put, 2% scan, Zipf 0.5, 400-byte values", nutanix
    yield _synthetic("dremel-write-heavy", False, 0.3, 30)
    yield _synthetic("dremel-read-heavy", False, 0.3, 90)
    yield _synthetic("dremel-preloaded", True, 0.9, 30)


def _synthetic_name(preloaded: bool, skew: float, get_percent: int) -> str:
    """Returns a synthetic workload's name in the form of the paper's figures (y: preloaded, n: not)."""
    return f"dremel-{'y' if preloaded else 'n'}-skew{skew}-{get_percent}get"


def _synthetic(name: str, preloaded: bool, skew: float, get_percent: int) -> tuple[str, WorkloadSpec]:
    """Returns a workload of gets and puts in a (summary, workload) pair."""
    mix = MixSpec(get=get_percent / 100, put=(100 - get_percent) / 100)
    spec = _spec(name, skew, mix, preloaded_keys=KEYS if preloaded else 0)
    start = "10 million keys preloaded" if preloaded else "nothing preloaded"
    return f"Dremel's, {start}: {get_percent}% get, {100 - get_percent}% put, Zipf {skew}", spec


def _spec(
    name: str, skew: float, mix: MixSpec, value_bytes: int = 1024, preloaded_keys: int = 0
) -> WorkloadSpec:
    """Returns a workload with the properties that all of Dremel's share."""
    return WorkloadSpec(
        name=name,
        keys=KEYS,
        value=SizeSpec(low=value_bytes),
        key_chooser=KeyChooserSpec(kind="scrambled_zipfian", skew=skew),
        scan_length=SizeSpec(kind="uniform", low=1, high=100),
        sessions=(SessionSpec(mix=mix),),
        preload=PreloadSpec(keys=preloaded_keys),
    )
