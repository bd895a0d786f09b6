"""The two versions of an upgrade: which RocksDB stands for each, and what it says of the OPTIONS file."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from rocktune.engine import OptionsChecker
from rocktune.engine.libraries import buildable_versions, installed_workers
from rocktune.engine.stand_ins import known_version, stand_in
from rocktune.errors import UserError
from rocktune.importing import InstalledSide, OptionsDocument, installed_side, upgrade_of
from rocktune.importing.stand_in import StandIn, standing_for
from rocktune.rocksdb_version import RocksDbVersion


@dataclass(frozen=True)
class UpgradeSide:
    """One version of an upgrade.

    Attributes:
        flag: the option that names it, for messages.
        wanted: the version that the user means.
        measured: the version that stands for it, which may be itself; None if there is none.
        installed: what that version says; None if it is not installed.
    """

    flag: str
    wanted: RocksDbVersion
    measured: RocksDbVersion | None
    installed: InstalledSide | None

    @property
    def named(self) -> str:
        """The measured version in words: `RocksDB 8.6.7, which stands for 8.5,`."""
        if self.measured is None or self.wanted.includes(self.measured):
            return f"RocksDB {self.measured or self.wanted}"
        return f"RocksDB {self.measured}, which stands for {self.wanted},"

    def read(self) -> StandIn:
        """Returns the file as this version reads it, with the defaults of the version that it stands for.

        Raises:
            UserError: the version is not installed, or opens no store with the file.
        """
        if self.measured is None:
            raise UserError(
                f"{self.flag}: no RocksDB is installed or can be built here that stands for {self.wanted} "
                "alone; --dry-run needs none"
            )
        if self.installed is None:
            raise UserError(
                f"{self.flag}: {self.named} is not built; build it: make rocksdb VERSION={self.measured}; "
                "--dry-run needs none"
            )
        if self.installed.read is None:
            raise UserError(self.installed.refused)
        return standing_for(self.installed.read, str(self.wanted), self.installed.version)


def upgrade_sides(
    document: OptionsDocument, family: str, from_version: str | None, to_version: str
) -> tuple[UpgradeSide, UpgradeSide]:
    """Returns both sides of an upgrade.

    Raises:
        UserError: a version is unknown, or the second is not newer than the first.
    """
    before, after = _versions(document, family, from_version, to_version)
    installed, buildable = installed_workers(), buildable_versions()
    measured = [stand_in(wanted, list(installed), buildable) for wanted in (before, after)]
    if None in measured or measured[0] == measured[1]:
        # One version cannot stand for both sides.
        measured = [None, None]
    old, new = (
        UpgradeSide(
            flag, wanted, version, _asked(installed.get(version), document, family) if version else None
        )
        for flag, wanted, version in zip(("--from", "--to"), (before, after), measured, strict=True)
    )
    return old, new


def _versions(
    document: OptionsDocument, family: str, from_version: str | None, to_version: str
) -> tuple[RocksDbVersion, RocksDbVersion]:
    """Returns the versions that the user means; see `upgrade_sides`."""
    before = _file_version(document) if from_version is None else known_version(from_version, "--from")
    after = known_version(to_version, "--to")
    if before.includes(after) or after.includes(before):
        raise UserError(f"--to: RocksDB {after} is the version to go from; name a newer one")
    if after < before:
        raise UserError(_downgrade(document, family, before, after))
    return before, after


def _file_version(document: OptionsDocument) -> RocksDbVersion:
    """Returns the version that an OPTIONS file names; see `upgrade_sides`."""
    if not document.rocksdb_version:
        raise UserError("--from: missing; the OPTIONS file does not say which RocksDB it is from")
    try:
        return known_version(document.rocksdb_version, f"options file {document.path}")
    except UserError as unknown:
        raise UserError(f"{unknown}; give the present version with --from") from None


def _asked(command: tuple[str, ...] | None, document: OptionsDocument, family: str) -> InstalledSide | None:
    """Returns what the RocksDB of a worker says of itself and the file; None without a worker."""
    if command is None:
        return None
    with closing(OptionsChecker(command)) as checker:
        return installed_side(document, family, checker.linked())


def _downgrade(document: OptionsDocument, family: str, before: RocksDbVersion, after: RocksDbVersion) -> str:
    """Returns the message that refuses a downgrade and says what would not open."""
    effects = upgrade_of(document, family, str(after), str(before)).effects
    lost = "; ".join(f"{effect.cause}: {effect.back}" for effect in effects if effect.back)
    reasons = f". Of a store that {before} has opened: {lost}" if lost else ""
    return f"--to: RocksDB {after} is older than {before}, which is no upgrade; name a newer one{reasons}"


def version_notes(sides: Sequence[UpgradeSide]) -> list[str]:
    """Returns sentences on versions that stand for others, and on versions that are not installed."""
    notes = [
        _stand_in_note(side) for side in sides if side.measured and not side.wanted.includes(side.measured)
    ]
    missing = [side for side in sides if side.installed is None]
    if missing:
        named = " and ".join(str(side.measured or side.wanted) for side in missing)
        notes.append(
            f"Not installed: RocksDB {named}. The changes are the release history's, not compared with the "
            "versions themselves."
        )
    return notes


def _stand_in_note(side: UpgradeSide) -> str:
    """Returns the sentence on a version that stands for another one."""
    sentence = f"RocksDB {side.measured} stands for {side.wanted}"
    if side.installed is None or side.installed.read is None:
        return f"{sentence}."
    found = side.read()
    if found.given:
        sentence += f", with the defaults of {side.wanted} for {', '.join(found.given)}"
    if found.left:
        sentence += f"; changed between them: {', '.join(found.left)}"
    return f"{sentence}."
