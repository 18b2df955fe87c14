"""From the exports of many devices to one map (docs/fleet.md)."""
