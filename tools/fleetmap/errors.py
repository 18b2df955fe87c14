"""Failures that a person can mend: printed as one line, without a trace."""

import pathlib


class FleetError(Exception):
    """A command cannot go on; the text says why and what to do."""


def make_folder(path: pathlib.Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise FleetError(f"{path} is a file, or below one, where a folder is needed: name another folder, or move the file") from None
