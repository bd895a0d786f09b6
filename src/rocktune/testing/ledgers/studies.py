"""Conformance tests of what a ledger does with studies, outcomes and events."""

import pytest

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.testing.ledgers.common import FIRST, SECOND, SPEC, LedgerFixtures, record_measured
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Status, Trial


class StudyTests(LedgerFixtures):
    """Tests of studies, their states and their events."""

    def test_a_study_is_the_same_when_the_ledger_is_opened_again(
        self, study: StudyRecord, ledger_url: str
    ) -> None:
        """Name, specification, engine and time are kept, and equal settings return the same study."""
        assert study.spec == SPEC
        assert (study.state, study.engine_version) == ("created", "RocksDB 7.8.3")
        with open_ledger(ledger_url) as again:
            assert again.study("study") == study
            assert again.studies() == [study]
            assert again.create_study("study", dict(reversed(SPEC.items()))) == study

    def test_a_name_taken_with_other_settings_is_refused(self, ledger: Ledger, study: StudyRecord) -> None:
        """The error names the setting that differs, and the study does not change."""
        with pytest.raises(UserError, match=r"study 'study': .*scale was 64, now 32"):
            ledger.create_study("study", {**SPEC, "scale": 32})
        assert ledger.studies() == [study]

    def test_names_are_told_apart_to_the_last_character(self, ledger: Ledger) -> None:
        """Names differ by case, accent or spaces, may use all of Unicode, and have up to 200 characters."""
        names = ["name", "Name", "name ", " name", "namé", "straße", "strasse", "𝒩" * 199 + "a", "𝒩" * 200]
        for number, name in enumerate(names):
            ledger.create_study(name, {"number": number})
        assert [(record.name, record.spec["number"]) for record in ledger.studies()] == [
            (name, number) for number, name in enumerate(names)
        ]
        for number, name in enumerate(names):
            assert ledger.study(name).spec == {"number": number}

    def test_long_and_strange_texts_are_kept(self, ledger: Ledger, study: StudyRecord) -> None:
        """Messages and payloads of megabytes are kept. Only NUL in messages is replaced."""
        long = "𝒩'\"\\%\n\t\r`" * 100_000
        trials = [Trial(FIRST, 1.0), Trial(SECOND, 1.0)]
        ledger.plan_batch(study, "search", 0, trials)
        ledger.record(study, 0, 0, trials[0], None, Status.CRASHED, long)
        ledger.record(study, 0, 1, trials[1], None, Status.CRASHED, "a\0b")
        ledger.add_event(study, "output", {"output": long + "\0"})
        assert [record.message for record in ledger.trials(study)] == [long, "a\ufffdb"]
        assert ledger.events(study)[0].payload == {"output": long + "\0"}

    @pytest.mark.usefixtures("study")
    def test_an_unknown_study_suggests_the_nearest(self, ledger: Ledger) -> None:
        """The error for an unknown study suggests the nearest name."""
        with pytest.raises(UserError, match="unknown study 'studdy': did you mean 'study'"):
            ledger.study("studdy")

    def test_an_empty_ledger_says_so(self, ledger: Ledger) -> None:
        """The error for an empty ledger says that it has no study."""
        with pytest.raises(UserError, match="has no study yet"):
            ledger.study("study")

    def test_deleting_takes_everything_of_that_study_alone(self, ledger: Ledger, study: StudyRecord) -> None:
        """A new study of a deleted study's name is empty, and other studies keep their trials."""
        other = ledger.create_study("other", SPEC, "RocksDB 7.8.3")
        for each in (study, other):
            record_measured(ledger, each, 0, Trial(FIRST, 1.0), synthetic_window(0.0, 1.0))
            ledger.add_event(each, "note", {})
        ledger.delete_study("study")
        again = ledger.create_study("study", SPEC)
        assert again.id not in (study.id, other.id)
        assert ledger.trials(again) == []
        assert ledger.events(again) == []
        assert len(ledger.trials(other)) == 1

    def test_state_and_outcome(self, ledger: Ledger, study: StudyRecord) -> None:
        """State and outcome have the value that was set last."""
        assert ledger.outcome(study) is None
        for ratio in (1.5, 0.1 + 0.2):
            ledger.set_outcome(study, {"ratio": ratio})
        ledger.set_state(study, "finished")
        assert ledger.outcome(study) == {"ratio": 0.1 + 0.2}
        assert ledger.study("study").state == "finished"

    def test_events_in_order_and_by_kind(self, ledger: Ledger, study: StudyRecord) -> None:
        """Events come back in order, all or by kind, with equal payloads."""
        for kind, value in (("a", 1), ("b", 2), ("a", 3)):
            ledger.add_event(study, kind, {"value": value})
        assert [event.payload["value"] for event in ledger.events(study)] == [1, 2, 3]
        assert [event.payload["value"] for event in ledger.events(study, "a")] == [1, 3]
