"""Write anew everything that is made from the code: ./check --regenerate."""

import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from scrapersky.cli.archive import MANIFEST, Manifest, content_of
from scrapersky.configuration import example_env
from scrapersky.db.revision import revisions
from scrapersky.kit.build import version
from scripts import client, deployment, openapi, page, reference, release_fixture

ROOT: Final = Path(__file__).parents[1]
MOST_ROUNDS: Final = 5
"""A page may list what stands on another; more than some rounds would never end."""

FILES: Final[Mapping[Path, Callable[[], str]]] = {
    **reference.FILES,
    **deployment.FILES,
    ROOT / ".env.example": example_env,
    openapi.PLACE: openapi.description,
    **client.FILES,
}
"""Every file that is made of the code alone, and what it should hold."""


def main() -> None:
    """Write the files until none changes, then what is made of them."""
    for _ in range(MOST_ROUNDS):
        if not write_files():
            break
    page.types()
    if is_fixture_old():
        release_fixture.make(version())


def write_files() -> bool:
    """Write the files that are not what they should be; say whether there was one."""
    written = False
    for path, content in FILES.items():
        now = content()
        if not path.exists() or path.read_text(encoding="utf-8") != now:
            path.write_text(now, encoding="utf-8")
            print(path.relative_to(ROOT))
            written = True
    return written


def is_fixture_old() -> bool:
    """Say whether the database that this release will leave behind has another schema."""
    file = release_fixture.place_of(version())
    if not file.exists():
        return True
    with tarfile.open(file) as tar:
        manifest = content_of(tar, tar.getmember(MANIFEST))
    return Manifest.model_validate_json(manifest).revision != revisions()[-1]


if __name__ == "__main__":
    main()
