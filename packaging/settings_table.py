"""Reads the table of all settings from docs/configuration.md, which a test holds to Sources/Settings."""

import re
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"


@dataclass(frozen=True)
class Setting:
    key: str
    type: str
    default: str
    range: str
    effect: str
    reload: str


def settings() -> list[Setting]:
    """All settings in the order of the document. A table of another form is an error."""
    text = DOCUMENT.read_text(encoding="utf-8")
    match = re.search(r"<!-- settings:.*?-->\n(.*?)<!-- end of settings -->", text, re.S)
    if not match:
        raise SystemExit(f"{DOCUMENT}: no table of settings")
    found = []
    for row in match.group(1).splitlines()[2:]:
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        if len(cells) != 6:
            raise SystemExit(f"{DOCUMENT}: not six cells: {row}")
        key, kind, default, limits, effect, reload = map(plain, cells)
        found.append(Setting(key, kind, default, limits, effect, reload))
    return found


def plain(text: str) -> str:
    """Markdown's links and code as plain text."""
    text = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
    return text.replace("`", "")
