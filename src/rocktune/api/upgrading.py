"""Upgrades: what changes between two versions of RocksDB for an OPTIONS file, and which one is faster."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune.api.engines import opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.files import REPORT_NAME, claim_output
from rocktune.api.requests import Given, new_name, requested
from rocktune.api.upgrade_sides import UpgradeSide, upgrade_sides, version_notes
from rocktune.errors import UserError
from rocktune.importing import Upgrade, read_options_document, upgrade_of
from rocktune.importing.families import chosen_family
from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.options_account import account_json
from rocktune.report import write_upgrade_report
from rocktune.space import parse_block_cache
from rocktune.study import Observer, StudyRequest, UpgradeSpec, own_account, proof_of, run_upgrade, upgrade_s
from rocktune.study.specs.upgrading import HowToUpgrade, resolve_upgrade
from rocktune.units import format_scale

DEFAULT_PAIRS = 6
DEFAULT_WORKLOAD = "ycsb-a"
"""The workload if the user names none."""
FOUND = "upgrade"
"""Kind of the ledger's event with the findings about the file, and the notes on the versions."""


@dataclass(frozen=True)
class PreparedUpgrade:
    """A checked upgrade that has not measured or written anything yet.

    Attributes:
        findings: what changes for the file.
        notes: sentences on the versions that stand for others, and on what the proof keeps equal.
        spec: the proof; None if none was asked for.
        ledger: URL or SQLite file; None for the user's own.
        out: directory of the report; None for one with the upgrade's name.
    """

    findings: Upgrade
    notes: tuple[str, ...]
    spec: UpgradeSpec | None = None
    ledger: str | None = None
    out: str | None = None

    def found(self) -> dict[str, Any]:
        """Returns the result without a proof; see `rocktune.api.upgrade`."""
        return {"upgrade": self.findings.model_dump(mode="json"), "notes": list(self.notes), "proof": None}

    def estimate(self) -> dict[str, Any]:
        """Returns `found`, and with a proof its conditions and `total_s` (estimated)."""
        if self.spec is None:
            return self.found()
        return self.found() | _conditions(self.spec) | {"total_s": upgrade_s(self.spec)}

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Any]:
        """Runs or continues the proof, if there is one; see `rocktune.api.upgrade`."""
        if self.spec is None:
            return self.found()
        with open_ledger(self.ledger) as ledger:
            return run_recorded_upgrade(
                self.spec, ledger, executor, address, observer, self.found(), self.out
            )


def prepare_upgrade(
    to_version: str,
    from_version: str | None = None,
    *,
    pairs: int = DEFAULT_PAIRS,
    seconds: str | float | None = None,
    proof: bool = True,
    **given: Unpack[Given],
) -> PreparedUpgrade:
    """Returns a checked upgrade.

    Args:
        to_version: see `upgrade`.
        from_version: see `upgrade`.
        pairs: see `upgrade`.
        seconds: see `upgrade`.
        proof: see `upgrade`.
        **given: see `upgrade`.

    Raises:
        UserError: see `upgrade`.
    """
    request = requested(None, {**given, "workload": given.get("workload") or DEFAULT_WORKLOAD})
    if request.options_file is None:
        raise UserError("options_file: missing; name your OPTIONS file with --options-file")
    document = read_options_document(Path(request.options_file))
    family = chosen_family(document, request.column_family).name
    old, new = upgrade_sides(document, family, from_version, to_version)
    findings = upgrade_of(document, family, str(old.wanted), str(new.wanted), old.installed, new.installed)
    if not proof:
        return PreparedUpgrade(findings, tuple(version_notes((old, new))))
    spec = _resolved(request, old, new, pairs, seconds)
    notes = (*version_notes((old, new)), _workload_note(request, given), _cache_note(spec))
    return PreparedUpgrade(findings, notes, spec, request.ledger, request.out)


def upgrade(
    to_version: str,
    from_version: str | None = None,
    *,
    pairs: int = DEFAULT_PAIRS,
    seconds: str | float | None = None,
    proof: bool = True,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
    **given: Unpack[Given],
) -> dict[str, Any]:
    """Says what an upgrade of RocksDB changes for an OPTIONS file, and proves which version is faster.

    An existing upgrade with this name and equal settings is continued.

    Args:
        to_version: the newer version, such as "11.8".
        from_version: the older version; None for the one that the file names.
        pairs: number of runs of each version, at least 2.
        seconds: length of each run; 120 s at full size by default.
        proof: measure both versions. Without it nothing has to be installed.
        executor: see `rocktune.api.tune`.
        address: see `rocktune.api.tune`.
        observer: observer of phases, trials and progress.
        **given: fields of `rocktune.study.StudyRequest`; `options_file` must be given, `workload` is "ycsb-a"
            by default, and engine, search and verification have no effect.

    Returns:
        `upgrade`: the fields of `rocktune.importing.Upgrade`. `notes`: sentences. `proof`: None without one,
        else the fields of `rocktune.study.UpgradeProof`. With a proof also `study`, `state`, `workload`,
        `device`, `scale`, `seconds`, `pairs`, `rocksdb` (the measured versions), `options_account` and
        `report`.

    Raises:
        UserError: a version is unknown, equal, older or not installed, or a part of the request is invalid.
        StudyInterrupted: Ctrl-C was pressed; `resume` continues.
    """
    prepared = prepare_upgrade(to_version, from_version, pairs=pairs, seconds=seconds, proof=proof, **given)
    return prepared.run(executor=executor, address=address, observer=observer)


def run_recorded_upgrade(
    spec: UpgradeSpec,
    ledger: Ledger,
    executor: str | None,
    address: str | None,
    observer: Observer | None,
    found: dict[str, Any] | None = None,
    out: str | None = None,
) -> dict[str, Any]:
    """Runs or continues the proof of an upgrade; see `upgrade`.

    Args:
        spec: the proof.
        ledger: records the runs, and the findings when they are first given.
        executor: see `rocktune.api.tune`.
        address: see `rocktune.api.tune`.
        observer: see `rocktune.api.tune`.
        found: the result without the proof; None for the recorded one.
        out: directory of the report; None for the earlier one, or one with the upgrade's name.
    """
    watching = observer or Observer()
    with opened_executor(spec, (), executor, address, opened_engine, watching) as measuring:
        record = ledger.create_study(spec.name, spec.model_dump(mode="json"), measuring.version)
        _record(ledger, record, found)
        directory = claim_output(ledger, record, out)
        run_upgrade(spec, measuring, ledger, watching)
    return report_upgrade(spec, ledger, record, directory)


def report_upgrade(spec: UpgradeSpec, ledger: Ledger, record: StudyRecord, directory: Path) -> dict[str, Any]:
    """Writes the report of a finished upgrade, and returns its result; see `upgrade`.

    Raises:
        UserError: it is not finished, or the report cannot be written.
    """
    proof = proof_of(spec, ledger, record).to_json()
    path = directory / REPORT_NAME
    said = dict(ledger.events(record, FOUND)[-1].payload) | _conditions(spec)
    found = said | {"state": "finished", "proof": proof, "report": path}
    try:
        write_upgrade_report(path, found)
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
    return found


def _record(ledger: Ledger, record: StudyRecord, found: dict[str, Any] | None) -> None:
    """Records the findings if the ledger has none.

    Raises:
        UserError: there are none, because the process was killed before it could record them.
    """
    if ledger.events(record, FOUND):
        return
    if found is None:
        raise UserError(
            f"study '{record.name}': what changes for the file is not recorded; repeat the command that "
            "began it"
        )
    with ledger.lock(record):
        ledger.add_event(record, FOUND, found)


def _conditions(spec: UpgradeSpec) -> dict[str, Any]:
    """Returns the conditions of a proof for its result."""
    return {
        "study": spec.name,
        "workload": spec.workload.name,
        "device": spec.device.name,
        "scale": format_scale(spec.scale),
        "seconds": spec.measured_s,
        "pairs": spec.pairs,
        "rocksdb": list(spec.engine.rocksdb),
        "options_account": account_json(own_account(spec)),
    }


def _resolved(
    request: StudyRequest, old: UpgradeSide, new: UpgradeSide, pairs: int, seconds: str | float | None
) -> UpgradeSpec:
    """Returns the proof.

    Raises:
        UserError: a version that would measure is not installed, or a part of the request is invalid.
    """
    how = HowToUpgrade(
        from_version=str(old.wanted),
        to_version=str(new.wanted),
        old=old.read().read,
        new=new.read().read,
        rocksdb=(str(old.measured), str(new.measured)),
        pairs=pairs,
        seconds=seconds,
    )
    name = request.study or new_name("upgrade", str(old.wanted), str(new.wanted))
    return resolve_upgrade(request, name, how)


def _workload_note(request: StudyRequest, given: Given) -> str:
    """Returns the sentence on the workload of the proof."""
    if given.get("workload"):
        return f"The proof's workload is {request.workload}."
    return f"The proof's workload is {request.workload}, because none was given; --workload names yours."


def _cache_note(spec: UpgradeSpec) -> str:
    """Returns the sentence on the block cache of the proof."""
    text = (spec.base_options or {}).get("table", {}).get("block_cache")
    if text is None or spec.own_terms is None:
        return "Neither version has a block cache, as the OPTIONS file says."
    source = {
        "options_file": ", as the OPTIONS file says",
        "asked": ", as --block-cache says",
        "search": "; the OPTIONS file does not say its size, --block-cache does",
        "none": "",
    }
    return (
        f"Both versions have a block cache of {parse_block_cache(text).shown}{source[spec.own_terms.cache]}."
    )
