from tests.report import sample

from rocktune.options_account import Fate, OptionsAccount
from rocktune.outcome import Outcome
from rocktune.report.own_options import own_options_section

ACCOUNT = {
    "file_version": "5.17.2",
    "rocksdb_version": "7.8.3",
    "family": "a<b",
    "entries": [
        {"section": "db", "name": "wal_dir", "line": 8, "given": "/<x>", "fate": "overridden", "why": "own"},
        {"section": "cf", "family": "a<b", "name": "ttl", "line": 9, "given": "1", "fate": "used"},
    ],
}


def test_the_section_lists_each_option_and_escapes_what_the_file_says() -> None:
    outcome = Outcome.from_json(sample.document() | {"options_account": ACCOUNT})
    section = own_options_section(outcome)
    assert "OPTIONS: 1 used, 1 overridden." in section
    assert "of RocksDB 5.17.2" in section
    assert "/&lt;x&gt;" in section
    assert "a&lt;b: ttl" in section
    assert "<x>" not in section


def test_the_section_lists_options_left_out_with_another_default() -> None:
    changed = {"section": "cf", "name": "ttl", "used": "2592000", "other": "<0>", "releases": "5.17.2"}
    outcome = Outcome.from_json(
        sample.document() | {"options_account": ACCOUNT | {"changed_defaults": [changed]}}
    )
    section = own_options_section(outcome)
    assert "<tr><td>ttl</td><td>2592000</td><td>&lt;0&gt;</td><td>5.17.2</td></tr>" in section
    without = own_options_section(Outcome.from_json(sample.document() | {"options_account": ACCOUNT}))
    assert "another default" in section
    assert "another default" not in without


def test_outcomes_without_an_account_have_no_section() -> None:
    assert own_options_section(Outcome.from_json(sample.document())) == ""


def test_an_account_survives_json() -> None:
    account = OptionsAccount.model_validate(ACCOUNT)
    assert OptionsAccount.model_validate(account.model_dump(mode="json")) == account
    assert account.with_fate(Fate.USED)[0].name == "ttl"
