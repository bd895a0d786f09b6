"""The tuner Dremel: a multi-armed bandit over arms of fused features, with successive halving."""

from rocktune.tuners.dremel.arms import PooledConfiguration, pooled_configurations
from rocktune.tuners.dremel.search import Dremel
from rocktune.tuners.dremel.settings import DremelSettings

__all__ = ["Dremel", "DremelSettings", "PooledConfiguration", "pooled_configurations"]
