#!/bin/sh
# Resolve the dependencies anew into locks/*.txt; each larger set agrees with the smaller.
set -eu
cd "$(dirname "$0")/.."
# Our own packages are built from this clone; only what they depend on is locked.
compile() {
    uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
        --no-emit-package contact-extraction --no-emit-package curation-sdk \
        --no-emit-package simulated-town pyproject.toml "$@"
}
{
    echo "# Made by scripts/lock.sh: the one program that installs the others."
    uv --version | sed 's/^uv \([^ ]*\).*/uv==\1/' |
        uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 -
} >locks/uv.txt
compile --output-file locks/run.txt
compile --group docs --constraint locks/run.txt --output-file locks/docs.txt
compile --group dev --constraint locks/docs.txt --output-file locks/dev.txt
compile --group dev --group bench --constraint locks/dev.txt --output-file locks/bench.txt
compile --group dev --group deploy --constraint locks/dev.txt --output-file locks/deploy.txt
