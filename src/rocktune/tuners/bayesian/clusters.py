"""Which knobs are modelled together, and with which adjacent tasks (section 3.4 of Alabed and Yoneki)."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import Spec

WRITE_AMPLIFICATION = "write_amplification"
READ_BLOCK_GET_P99 = "read_block_get_us_p99"
LEVEL0_TO_LEVEL1_P99 = "level0_to_level1_us_p99"
PAPERS_TASKS = (WRITE_AMPLIFICATION, READ_BLOCK_GET_P99, LEVEL0_TO_LEVEL1_P99)
"""Beside throughput (section 3.3.1)."""


class Cluster(Spec):
    """Knobs that share a model.

    Attributes:
        knobs: at least one; those that the space does not have are passed over.
        tasks: metrics that these knobs drive, beside the objective.
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
"""The paper's clusters, reconstructed from its text, because figure 8 is an image (docs/readings.md)."""


@dataclass(frozen=True)
class Part:
    """A cluster by position.

    Attributes:
        knobs: positions in the space.
        tasks: positions in the search's tasks, 0 the objective, which every part has.
    """

    knobs: tuple[int, ...]
    tasks: tuple[int, ...]


def parts_of(knobs: Sequence[str], tasks: Sequence[str], clusters: Sequence[Cluster]) -> list[Part]:
    """Returns the parts of a space: its clusters, and last one of the knobs that are in none.

    Args:
        knobs: of the space.
        tasks: of the search, the objective first.
        clusters: whose tasks are all among `tasks`.
    """
    parts, left = [], list(knobs)
    for cluster in clusters:
        own = [knob for knob in cluster.knobs if knob in left]
        left = [knob for knob in left if knob not in own]
        if own:
            positions = tuple(dict.fromkeys((0, *(tasks.index(task) for task in cluster.tasks))))
            parts.append(Part(tuple(knobs.index(knob) for knob in own), positions))
    if left:
        parts.append(Part(tuple(knobs.index(knob) for knob in left), (0,)))
    return parts


def check_clusters(clusters: Sequence[Cluster], knobs: Sequence[str], tuner: str) -> None:
    """Accepts clusters that a user wrote for a space.

    Raises:
        UserError: none, a knob that is neither the space's nor anywhere known, or one in two clusters.
    """
    if not clusters:
        raise UserError(f"tuner '{tuner}': clusters: there is none; leave it out for the paper's")
    named = [knob for cluster in clusters for knob in cluster.knobs]
    for knob in named:
        if knob not in knobs:
            raise unknown_name(f"tuner '{tuner}': clusters: knob", knob, knobs)
        if named.count(knob) > 1:
            raise UserError(f"tuner '{tuner}': clusters: '{knob}' is in more than one; keep it in one")
