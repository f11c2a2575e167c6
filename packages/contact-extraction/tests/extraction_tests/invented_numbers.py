"""Numbers that nobody answers: of registers, goods, banks and figures, as pages write them.

Most have as many digits as a telephone number of their country, so only what stands
around them tells what they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

Write = Callable[[Random], str]


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A kind of number, how it is called and how its digits are written."""

    name: str
    country: str
    labels: tuple[str, ...]
    write: Write


def form(pattern: str) -> Write:
    """Write digits for every # of a pattern, and letters for every @."""

    def write(random: Random) -> str:
        signs = {"#": "0123456789", "@": "ABCDEFGHJKLMNPRSTUVWXYZ", "*": "123456789"}
        return "".join(
            random.choice(signs[sign]) if sign in signs else sign for sign in pattern
        )

    return write


KINDS: Final = (
    NumberKind(
        "serial", "US", ("Serial number", "Serial No.", "S/N"), form("*## ### ####")
    ),
    NumberKind(
        "serial joined", "US", ("Serial number", "Serial #"), form("*#########")
    ),
    NumberKind(
        "model",
        "US",
        ("Model", "Model no.", "Part number", "Part No."),
        form("*##-###-####"),
    ),
    NumberKind("UPC", "US", ("UPC", "UPC-A", "UPC code"), form("*## ### #####")),
    NumberKind("barcode", "DE", ("EAN", "GTIN", "GTIN-13"), form("40#### ######")),
    NumberKind("ISBN", "GB", ("ISBN", "ISBN-10", "ISBN-13"), form("978 # #### #### #")),
    NumberKind(
        "DUNS",
        "US",
        ("DUNS", "D-U-N-S", "DUNS number", "D-U-N-S®"),
        form("*#-###-####"),
    ),
    NumberKind("NPI", "US", ("NPI", "NPI number", "NPI #"), form("1#########")),
    NumberKind("EIN", "US", ("EIN", "Tax ID", "Federal Tax ID"), form("*#-#######")),
    NumberKind(
        "licence",
        "US",
        ("License", "License #", "Lic. No.", "CSLB License"),
        form("*######"),
    ),
    NumberKind(
        "sort code", "GB", ("Sort code", "Sort Code"), form("20-##-## 0#######")
    ),
    NumberKind(
        "account",
        "GB",
        ("Account number", "Account no.", "A/C no."),
        form("020 #### ####"),
    ),
    NumberKind(
        "charity",
        "GB",
        ("Charity number", "Registered charity no.", "Company No."),
        form("01######"),
    ),
    NumberKind(
        "ICO", "GB", ("ICO registration", "Registration number"), form("0### ### ####")
    ),
    NumberKind(
        "ORIAS",
        "FR",
        ("ORIAS", "ORIAS n°", "N° ORIAS", "immatriculé à l'ORIAS sous le n°"),
        form("0# ### ###"),
    ),
    NumberKind(
        "RCS",
        "FR",
        ("RCS Paris", "RCS Lyon B", "R.C.S. de Nantes"),
        form("*## ### ###"),
    ),
    NumberKind(
        "SIRET", "FR", ("SIRET", "N° SIRET", "Siret :"), form("*## ### ### #####")
    ),
    NumberKind("RPPS", "FR", ("RPPS", "N° RPPS", "ADELI"), form("01 ## ## ## ##")),
    NumberKind(
        "register",
        "DE",
        ("HRB", "Registernummer", "HRA", "Amtsgericht Ulm HRB"),
        form("0*## ######"),
    ),
    NumberKind(
        "tax", "DE", ("Steuernummer", "St.-Nr.", "Steuer-Nr."), form("0**/###/#####")
    ),
    NumberKind(
        "customer",
        "DE",
        ("Kundennummer", "Bestellnummer", "Art.-Nr.", "Artikelnummer"),
        form("0*## #######"),
    ),
    NumberKind(
        "bank", "DE", ("Konto", "Kontonummer", "BLZ", "Konto-Nr."), form("0*########")
    ),
    NumberKind(
        "Italian tax",
        "IT",
        ("P. IVA", "Partita IVA", "Codice fiscale", "C.F."),
        form("0##########"),
    ),
    NumberKind("REA", "IT", ("REA", "R.E.A. MI", "Numero REA"), form("0# #######")),
    NumberKind(
        "Dutch chamber",
        "NL",
        ("KvK", "KvK-nummer", "BTW", "AGB-code"),
        form("0## #######"),
    ),
    NumberKind("Polish register", "PL", ("REGON", "KRS", "NIP"), form("*## ### ###")),
    NumberKind(
        "Spanish register",
        "ES",
        ("NIF", "CIF", "N.º de registro", "Colegiado nº"),
        form("9## ## ## ##"),
    ),
    NumberKind(
        "Czech register", "CZ", ("IČ", "IČO", "DIČ", "č. účtu"), form("*## ### ###")
    ),
    NumberKind(
        "Danish register", "DK", ("CVR", "CVR-nr.", "CVR nr"), form("*# ## ## ##")
    ),
    NumberKind(
        "Nordic organisation",
        "NO",
        ("Org.nr.", "Organisasjonsnummer", "Org nr"),
        form("9## ## ###"),
    ),
    NumberKind(
        "Swedish organisation",
        "SE",
        ("Org.nr", "Organisationsnummer", "Bankgiro"),
        form("55####-####"),
    ),
    NumberKind("ABN", "AU", ("ABN", "ACN", "A.B.N."), form("0# #### ####")),
    NumberKind(
        "order",
        "US",
        ("Order", "Order #", "Invoice no.", "Tracking number"),
        form("*## ### ####"),
    ),
    NumberKind(
        "coordinates", "US", ("Latitude", "GPS", "Coordinates"), form("*#.#######")
    ),
    NumberKind("population", "FR", ("Population", "Habitants"), form("0# ### ### ###")),
    NumberKind("amount", "DE", ("Umsatz", "Bilanzsumme"), form("*.###.###,## €")),
)

LAYOUTS: Final = (
    "<p>{label}: {number}</p>",
    "<p>{label} {number}</p>",
    "<p>Acme Works, {label} {number}, all rights reserved.</p>",
    "<p><b>{label}</b><br>{number}</p>",
    "<dl><dt>{label}</dt><dd>{number}</dd></dl>",
    "<table><tr><th>{label}</th><td>{number}</td></tr></table>",
    "<table><tr><th>Name</th><th>{label}</th></tr><tr><td>Gear</td><td>{number}</td></tr></table>",
    "<ul><li>{label}<span> {number}</span></li></ul>",
)


def invented(count: int, seed: int = 45) -> Iterator[tuple[NumberKind, str]]:
    """Yield kinds and pages with one invented number each, as many of each kind."""
    random = Random(seed)
    for place in range(count):
        kind = KINDS[place % len(KINDS)]
        layout = random.choice(LAYOUTS)
        yield (
            kind,
            layout.format(label=random.choice(kind.labels), number=kind.write(random)),
        )
