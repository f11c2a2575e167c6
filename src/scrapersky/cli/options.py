"""What several commands take."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

RUN = Group("Run it", sort_key=1)
CARE = Group("Look after it", sort_key=2)
PortNumber = Annotated[int, Parameter(validator=Number(gte=1, lte=65535))]
AsJson = Annotated[bool, Parameter(help="Print JSON.")]
ProcessName = Annotated[
    str, Parameter(help="The process's name, as `scrapersky workers` prints it.")
]
PathOrStream = Annotated[Path, Parameter(allow_leading_hyphen=True)]
"""A file, or `-` for a standard stream, which would else be taken for an option."""
Source = Literal["osm", "google", "file"]
StageName = Annotated[
    str, Parameter(help="The stage's name, as `scrapersky stages` prints it.")
]
TenantName = Annotated[
    str | None,
    Parameter(
        help="The tenant's short name; without it, the installation's own tenant."
    ),
]
