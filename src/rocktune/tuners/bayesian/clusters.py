"""Clusters of knobs that share a model, with their adjacent tasks (section 3.4 of Alabed and Yoneki)."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import Spec

WRITE_AMPLIFICATION = "write_amplification"
READ_BLOCK_GET_P99 = "read_block_get_us_p99"
LEVEL0_TO_LEVEL1_P99 = "level0_to_level1_us_p99"
PAPERS_TASKS = (WRITE_AMPLIFICATION, READ_BLOCK_GET_P99, LEVEL0_TO_LEVEL1_P99)
"""The paper's adjacent tasks: metrics that are modelled in addition to throughput (section 3.3.1)."""


class Cluster(Spec):
    """A cluster of knobs that share a model.

    Attributes:
        knobs: names of the knobs, at least one. Knobs that the space does not have are ignored.
        tasks: metrics, in addition to the objective, that these knobs influence.
    """

    knobs: tuple[str, ...]
    tasks: tuple[str, ...] = ()


RECONSTRUCTED = (
    Cluster(knobs=("write_buffer_size",)),
    Cluster(
        knobs=(
            "max_write_buffer_number",
            "min_write_buffer_number_to_merge",
            "block_size",
            "max_background_flushes",
        ),
        tasks=(WRITE_AMPLIFICATION, READ_BLOCK_GET_P99),
    ),
    Cluster(
        knobs=("max_background_compactions", "max_bytes_for_level_multiplier"),
        tasks=(WRITE_AMPLIFICATION, READ_BLOCK_GET_P99),
    ),
    Cluster(
        knobs=(
            "level0_file_num_compaction_trigger",
            "level0_slowdown_writes_trigger",
            "level0_stop_writes_trigger",
        ),
        tasks=(LEVEL0_TO_LEVEL1_P99,),
    ),
)
"""The paper's clusters, reconstructed from its text, because figure 8 is not readable (docs/readings.md)."""


@dataclass(frozen=True)
class Part:
    """A cluster with indices in place of names.

    Attributes:
        knobs: indices of its knobs in the space.
        tasks: indices of its tasks among the search's. Index 0, the objective, is always the first.
    """

    knobs: tuple[int, ...]
    tasks: tuple[int, ...]


def parts_of(knobs: Sequence[str], tasks: Sequence[str], clusters: Sequence[Cluster]) -> list[Part]:
    """Returns the clusters of a space as parts. The last part has all knobs that are in no cluster.

    Args:
        knobs: names of the space's knobs.
        tasks: names of the search's tasks, the objective first.
        clusters: the clusters; their tasks must be among `tasks`.
    """
    parts, left = [], list(knobs)
    for cluster in clusters:
        # A knob in two clusters counts for the first; for a user's clusters that is an error before this.
        own = [knob for knob in cluster.knobs if knob in left]
        left = [knob for knob in left if knob not in own]
        if own:
            indices = tuple(dict.fromkeys((0, *(tasks.index(task) for task in cluster.tasks))))
            parts.append(Part(tuple(knobs.index(knob) for knob in own), indices))
    if left:
        parts.append(Part(tuple(knobs.index(knob) for knob in left), (0,)))
    return parts


def check_clusters(clusters: Sequence[Cluster], knobs: Sequence[str], tuner: str) -> None:
    """Checks a user's clusters for a space.

    Raises:
        UserError: there are none, a knob is not in the space, or a knob is in two clusters.
    """
    if not clusters:
        raise UserError(
            f"tuner '{tuner}': clusters: the list is empty; leave it out for the paper's clusters"
        )
    named = [knob for cluster in clusters for knob in cluster.knobs]
    for knob in named:
        if knob not in knobs:
            raise unknown_name(f"tuner '{tuner}': clusters: knob", knob, knobs)
        if named.count(knob) > 1:
            raise UserError(
                f"tuner '{tuner}': clusters: '{knob}' is in more than one cluster; keep it in one"
            )
