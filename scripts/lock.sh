#!/bin/sh
# Resolve the dependencies anew into locks/*.txt; each larger set agrees with the smaller.
set -eu
cd "$(dirname "$0")/.."
compile() { uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml "$@"; }
compile --output-file locks/run.txt
compile --group dev --constraint locks/run.txt --output-file locks/dev.txt
compile --group dev --group bench --constraint locks/dev.txt --output-file locks/bench.txt
