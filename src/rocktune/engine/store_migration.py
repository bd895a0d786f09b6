"""Brings the data of a closed database to new options with the worker (docs/design/apply.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.worker import start_worker
from rocktune.errors import UserError
from rocktune.space import OptionMaps
from rocktune.spec_file import Spec
from rocktune.trial import Status

# Progress restarts the time, but skipping many deleted entries and replaying a large WAL are silent.
_TIMEOUT_S = 3600.0


class FamilyContent(Spec):
    """The content of a column family, which was compared before and after.

    Attributes:
        name: name of the column family.
        entries: entries that a reader sees.
        raw_bytes: bytes of their keys and values before compression.
        checksum: 64 bits as a decimal number; depends on the order of the entries.
    """

    name: str
    entries: int
    raw_bytes: int
    checksum: str


_CONTENTS = TypeAdapter(tuple[FamilyContent, ...])


@dataclass(frozen=True)
class StoreMigration:
    """A change of options that needs the data of a database written again.

    Attributes:
        source: the database's directory.
        present: what reading the database needs, by family: `comparator`, `merge_operator`,
            `compaction_style` and `num_levels`; and `wal_dir` in section "db".
        wanted: all new options, by section.
        bandwidth_bytes_s: bytes per second that may be read and written together; 0 for no limit.
        command: program and arguments that start the worker.
    """

    source: Path
    present: OptionMaps
    wanted: OptionMaps
    bandwidth_bytes_s: int
    command: Sequence[str]

    def copied(self, target: Path, progress: Progress | None = None) -> tuple[FamilyContent, ...]:
        """Copies the database, or continues a copy, and compares it with the source.

        Args:
            target: directory of the copy: new, empty, or of an unfinished copy.
            progress: is called with the phases "copy", "settle" and "verify", and bytes before compression.

        Returns:
            The content of source and copy.

        Raises:
            UserError: the database is open or cannot be copied, the target is another directory of files, the
                disk is full, or copying failed. The same call continues the copy.
        """
        fields = {"target": str(target)}
        reply = self._asked("copy_store", fields, progress, "give the same command again to continue")
        return _CONTENTS.validate_python(reply["families"])

    def rewritten(
        self, families: Sequence[str], progress: Progress | None = None
    ) -> tuple[FamilyContent, ...]:
        """Rewrites families of the database in its directory, gives all their new options, and compares.

        Args:
            families: names of the families whose data is rewritten.
            progress: is called with the phases "check", "rewrite" and "verify", and bytes before compression.

        Returns:
            The content before and after.

        Raises:
            UserError: the database is open or its data cannot be rewritten, the disk is full, or rewriting
                failed. The database can be opened all the same.
        """
        fields = {"rewritten": list(families)}
        reply = self._asked("rewrite_store", fields, progress, "give the same command again to repeat it")
        return _CONTENTS.validate_python(reply["families"])

    def _asked(
        self, command: str, fields: dict[str, Any], progress: Progress | None, mend: str
    ) -> dict[str, Any]:
        """Returns the worker's reply. Raises UserError, with `mend` unless the request itself is wrong."""
        common = {
            "source": str(self.source),
            "present": self.present,
            "wanted": self.wanted,
            "device": {"bandwidth_bytes_s": self.bandwidth_bytes_s},
        }
        worker = start_worker(tuple(self.command))
        try:
            return worker.request(command, _TIMEOUT_S, common | fields, progress, renewed=True)
        except RunFailed as failure:
            if failure.status is Status.INVALID:
                raise UserError(failure.message) from None
            hint = f"free some space and {mend}" if failure.status is Status.OUT_OF_DISK else mend
            raise UserError(f"{self.source}: {failure.message}; {hint}") from None
        finally:
            worker.kill()
