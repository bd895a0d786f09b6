"""Choosing the column family of a file that is measured."""

from rocktune.importing.document import Family, OptionsDocument, OptionsFileError


def chosen_family(document: OptionsDocument, name: str | None) -> Family:
    """Returns the column family of that name, or the only one there is.

    Args:
        document: the file.
        name: the family that the user asked for; None for no choice.

    Raises:
        OptionsFileError: there is no such family, or there are several and no choice.
    """
    named = {family.name: family for family in document.families}
    if name is None and len(named) == 1:
        return document.families[0]
    listed = ", ".join(f"'{family.name}' ({_size(family)})" for family in document.families)
    if name is None:
        raise OptionsFileError(
            f"options file {document.path}: it has {len(named)} column families: {listed}; choose the one to "
            "measure with --column-family NAME"
        )
    if name not in named:
        raise OptionsFileError(
            f"options file {document.path}: it has no column family '{name}', only {listed}; choose another "
            "with --column-family NAME"
        )
    return named[name]


def _size(family: Family) -> str:
    count = len(family.options) + len(family.table)
    return f"{count} option{'' if count == 1 else 's'}" if count else "no options"
