"""A synthetic store whose throughput follows from the model of compactions, for tests of searches."""

from dataclasses import dataclass

import numpy as np

from rocktune.lsm import Amplification, DistinctKeys, TreeData, TreeShape, steady_amplification
from rocktune.space import Configuration, Space
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Result, Status, Trial

_ENTRY_BYTES = 1040.0
_STORED_BYTES = 580.0
_DEVICE_BYTES_PER_S = 100e6


@dataclass(frozen=True)
class ModelledStore:
    """A store of uniformly written entries of 1,040 bytes on a device of 100 MB/s.

    A write costs its bytes in the log and what flushes and compactions move for it in steady state. A read
    costs one block. Only the options of compactions, the memtables and the block size have an effect.

    Attributes:
        space: the space of the configurations; its `expected_entries` are the keys of the store.
        read_share: share of reads among the operations, from 0 to 1.
    """

    space: Space
    read_share: float

    def __call__(self, trial: Trial) -> Result:
        """Returns the result of a trial."""
        window = synthetic_window(0.0, trial.until_s, self.throughput_ops_s(trial.configuration))
        return Result(trial, Status.OK, window)

    def throughput_ops_s(self, configuration: Configuration) -> float:
        """Returns operations per second in steady state."""
        write_bytes = _ENTRY_BYTES * (1 + self.amplification(configuration).total)
        read_bytes = float(self.space.columns([configuration])["block_size"][0])
        return _DEVICE_BYTES_PER_S / (self.read_share * read_bytes + (1 - self.read_share) * write_bytes)

    def amplification(self, configuration: Configuration) -> Amplification:
        """Returns the amplification of writes in steady state."""
        keys = self.space.expected_entries
        data = TreeData(DistinctKeys(np.array([keys]), np.array([1 / keys])), _ENTRY_BYTES, _STORED_BYTES)
        values = {name: column.item() for name, column in self.space.columns([configuration]).items()}
        return steady_amplification(TreeShape.of_values(values), data)
