"""The tables of an export: the fences' columns as docs/export.md lists them, and what the export states."""

import dataclasses
import pathlib

EXPORT_PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "export.md"

STATEMENT = """
CREATE TABLE "export" (
  store_id TEXT NOT NULL, -- the store, also where no fence is exported
  exported_at DATETIME NOT NULL,
  last_fence INTEGER NOT NULL, -- the greatest number of a fence that the store has given
  from_time DATETIME, -- `--from`, or NULL
  to_time DATETIME, -- `--to`, or NULL
  state TEXT NOT NULL, -- `--state`
  filtered BOOLEAN NOT NULL -- whether --session, --bbox, --technology or --link left fences out
)
"""


@dataclasses.dataclass(frozen=True)
class Statement:
    """What an export states about itself. Times are ISO 8601 in UTC."""

    store: str
    exported_at: str
    last_fence: int
    from_time: str | None = None
    to_time: str | None = None
    state: str = "all"
    filtered: bool = False


def columns() -> dict[str, str]:
    """The columns of the layer `fence_centres` and their types, in order."""
    table = EXPORT_PAGE.read_text().split("<!-- columns:")[1].split("<!-- end of columns -->")[0]
    found: dict[str, str] = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and cells[3] not in ("", "`fid`", "geometry"):
            found[cells[0].strip("`")] = cells[3]
    return found
