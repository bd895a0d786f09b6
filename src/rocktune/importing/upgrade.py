"""The findings about an upgrade from one RocksDB to another for one OPTIONS file."""

from enum import StrEnum

from rocktune.spec_file import Spec


class ChangeKind(StrEnum):
    """How a change reaches the store of the file."""

    NEW_DEFAULT = "new default"
    """The file leaves the option out, so that the new default applies."""
    KEPT = "stays as it was"
    """The file states the old default, so that the new one does not apply."""
    NEW_MEANING = "new meaning"
    """The option's value in the file, or its absence, means something else."""
    GONE = "gone"
    """The file sets the option, and the newer RocksDB does not have it or does not use it."""
    RENAMED = "renamed"
    """The file sets the option, whose place another one has taken."""
    MEASURED = "other value"
    """Both versions ran the file, and the option came out with another value."""


class Change(Spec):
    """One change that matters to the file.

    Attributes:
        kind: how it reaches the store.
        section: "db", "cf" or "table".
        name: the option's; a setting inside the option follows after a dot.
        since: release lines of the change, with commas between them; empty if the history does not know it.
        before: value with the older RocksDB; for a new meaning the file's, or "left out".
        after: value with the newer RocksDB; for an option that stays as it was the new default; for a renamed
            one the new name. Empty if there is none.
        note: what it means; may be empty.
        source: where RocksDB says so.
    """

    kind: ChangeKind
    section: str
    name: str
    since: str = ""
    before: str = ""
    after: str = ""
    note: str = ""
    source: str

    @property
    def path(self) -> str:
        """Section and name, such as "cf.compression"."""
        return f"{self.section}.{self.name}"


class StoreEffect(Spec):
    """What the upgrade does to the data of the store.

    Attributes:
        cause: the option that causes it, or the release line that all stores pass, such as "RocksDB 11.3".
        effect: what the first open, or what follows it, does to the data.
        back: what it means for a return to the older release; may be empty.
        source: where RocksDB says so.
    """

    cause: str
    effect: str
    back: str = ""
    source: str


class Upgrade(Spec):
    """All findings about an upgrade for one column family of an OPTIONS file.

    Attributes:
        path: the file.
        family: the column family.
        from_version: the older version, as the user or the file names it.
        to_version: the newer version.
        measured_from: version of the installed RocksDB that stands for the older one; empty for none.
        measured_to: version of the installed RocksDB that stands for the newer one; empty for none.
        refused: why the newer RocksDB opens no store with the file; empty if it does or was not asked.
        changes: those that matter to the file, the weightiest kind first.
        effects: what happens to the data of the store.
        new_options: options that the newer RocksDB has in addition, each as "section.name (release)".
        disagreements: sentences on differences between the installed versions and rocktune's history.
    """

    path: str
    family: str
    from_version: str
    to_version: str
    measured_from: str = ""
    measured_to: str = ""
    refused: str = ""
    changes: tuple[Change, ...] = ()
    effects: tuple[StoreEffect, ...] = ()
    new_options: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    def of_kind(self, *kinds: ChangeKind) -> tuple[Change, ...]:
        """Returns the changes of some kinds."""
        return tuple(change for change in self.changes if change.kind in kinds)
