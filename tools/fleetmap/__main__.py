"""The commands of `tools/fleet`. Exit status: 0 done, 1 failed, 2 wrong usage."""

import argparse
import importlib
import sys

from fleetmap.errors import FleetError

COMMANDS = {
    "add": "add exports to a data set",
    "bench": "measure what entry and map cost",
    "map": "make the map of a data set",
    "serve": "serve the map by PostGIS, on loopback",
    "simulate": "write the exports of a made-up country",
    "test": "ruff, mypy and the tests",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/fleet", description="From the exports of many devices to one map.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, meaning in COMMANDS.items():
        if name not in sys.argv[1:2]:
            commands.add_parser(name, help=meaning)
            continue
        # Only this one: the packages of all of them take half a second.
        module = importlib.import_module(f"fleetmap.{name}_command")
        command = commands.add_parser(name, help=meaning, description=module.__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_options(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args()
    try:
        status: int = options.run(options)
    except (FleetError, OSError) as error:
        print(f"fleet: {error}", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
