from dataclasses import replace

import numpy as np
import pytest
from tests.report import sample

from rocktune.device import load_device
from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.report.arms import arm_results
from rocktune.space import Configuration, load_space, space_document
from rocktune.study.specs.problem import expected_entries
from rocktune.study.specs.spec import StudySpec
from rocktune.trial import Trial
from rocktune.workload import load_workload

WORKLOAD, DEVICE = load_workload("dremel-write-heavy"), load_device("ssd-100mb")


@pytest.fixture(scope="module")
def study() -> StudyRecord:
    spec = StudySpec.model_validate(
        {
            "name": "s",
            "workload": WORKLOAD.model_dump(mode="json"),
            "device": DEVICE.model_dump(mode="json"),
            "space": space_document("dremel"),
            "memory_bytes": 1 << 30,
            "tuner": "dremel",
            "objective": "throughput_ops_s",
            "scale": 64,
            "budget_s": 36.3,
            "seed": 7,
        }
    )
    return replace(sample.study(), spec=spec.model_dump(mode="json"))


def searched(count: int) -> list[TrialRecord]:
    """Each of some configurations at two ages: 1,000 operations/s times its number, then ten times that."""
    space = load_space("dremel", 1 << 30, expected_entries(WORKLOAD, DEVICE))
    found: list[Configuration] = space.sample(count, np.random.default_rng(5))
    template = next(record for record in sample.trials() if record.phase == "search")
    return [
        replace(
            template,
            index=index,
            batch=batch,
            trial=Trial(configuration, age_s),
            measurement=sample.measurement(age_s, 1000.0 * (index + 1) * (10 if batch else 1), 4.0, 1),
        )
        for batch, age_s in enumerate((1.0, 2.0))
        for index, configuration in enumerate(found)
    ]


def test_arms_count_each_configuration_once_and_show_the_best_at_the_first_age(study: StudyRecord) -> None:
    arms = arm_results(study, searched(30))
    assert sum(arm["trials"] for arm in arms) == 30
    assert all(set(arm["buckets"].values()) <= {1, 2} and len(arm["buckets"]) == 4 for arm in arms)
    # 30 configurations gave 1,000 to 30,000 at the first age; the later 300,000 must not count.
    assert max(arm["value"] for arm in arms) == pytest.approx(30_000, rel=1e-2)


def test_arm_of_failed_configurations_has_no_value(study: StudyRecord) -> None:
    failed = [replace(record, measurement=None) for record in searched(3)]
    assert {arm["value"] for arm in arm_results(study, failed)} == {None}


def test_other_tuners_have_no_arms() -> None:
    assert arm_results(replace(sample.study(), spec={"tuner": "random"}), sample.trials()) == []
