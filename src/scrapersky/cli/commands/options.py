"""What several commands take."""

from typing import Annotated, Literal

from cyclopts import Group, Parameter

RUN = Group("Run it", sort_key=1)
CARE = Group("Look after it", sort_key=2)
AsJson = Annotated[bool, Parameter(help="Print JSON.")]
ProcessName = Annotated[
    str, Parameter(help="The process's name, as `scrapersky workers` prints it.")
]
Role = Literal["viewer", "curator", "admin"]
Scope = Literal["read", "export", "curate", "administer", "operate", "metrics"]
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
