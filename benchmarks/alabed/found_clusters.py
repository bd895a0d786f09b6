"""The tuner `clustered-bo` with the clusters that were found in data: 500 random runs of alabed-text.

`benchmarks.alabed.space` wrote them into docs/evidence/alabed/space/clusters.toml.
"""

import tomllib
from pathlib import Path

from rocktune.tuners.bayesian.clusters import Cluster
from rocktune.tuners.bayesian.variants import Clustered, ClusteredSettings

FOUND = Path(__file__).parents[2] / "docs" / "evidence" / "alabed" / "space" / "clusters.toml"


def found_clusters() -> tuple[Cluster, ...]:
    """Returns the clusters of the file."""
    document = tomllib.loads(FOUND.read_text(encoding="utf-8"))
    return tuple(Cluster.model_validate(each) for each in document["tuner_settings"]["clusters"])


class FoundClustersSettings(ClusteredSettings):
    """The settings of `clustered-bo`; by default the clusters are the found ones."""

    clusters: tuple[Cluster, ...] | None = found_clusters()


class FoundClusters(Clustered):
    """The clustered tuner without the paper's reconstructed assignment."""

    name = "found-clusters"
    summary = "clustered-bo with clusters found in 500 random runs"
    settings_type = FoundClustersSettings
    settings: FoundClustersSettings
