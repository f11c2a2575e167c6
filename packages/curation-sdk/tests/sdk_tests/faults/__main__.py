"""Print the fault table: `python -m sdk_tests.faults [--long] [name ...]`."""

import argparse
import sys

from sdk_tests.faults.scenario import Row
from sdk_tests.faults.table import LONG, QUICK


def main() -> None:
    """Run the chosen faults, one after the other, and print every line."""
    parser = argparse.ArgumentParser(prog="python -m sdk_tests.faults")
    parser.add_argument("--long", action="store_true", help="the release figures")
    parser.add_argument("names", nargs="*", choices=[[], *QUICK], default=[])
    options = parser.parse_args()
    runs = LONG if options.long else QUICK
    print(Row.HEADER, flush=True)
    failed = False
    for name in options.names or runs:
        try:
            print(runs[name](), flush=True)
        except Exception as error:  # noqa: BLE001 - the other lines are wanted too
            failed = True
            print(f"{name}: FAILED: {error!r}", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
