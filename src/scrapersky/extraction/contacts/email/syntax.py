"""What an address looks like in plain text, and what only looks like one."""

import re
from collections.abc import Iterator
from typing import Final

from scrapersky.extraction.email_quality import is_public_name
from scrapersky.extraction.html import words

MAX_FOUND: Final = 2_000
MAX_LOCAL: Final = 64
MAX_TRIES: Final = 10_000
MAX_SIGNS: Final = 50_000
"""No honest page has more '@'; what follows is not read."""


def addresses_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and address for each plain address of a text, in linear time."""
    given = 0
    text = text.replace("\uff20", "@")
    if text.count("@") > MAX_SIGNS:
        text = "@".join(text.split("@", MAX_SIGNS)[:MAX_SIGNS])
    for tries, match in enumerate(_DOMAIN.finditer(text)):
        if tries > MAX_TRIES:
            return
        if match[1].rpartition(".")[2] in _FILE_ENDINGS:
            continue
        at = match.start()
        local = _local_before(text, at)
        if not local:
            continue
        domain = trimmed_domain(match[1])
        if domain is None:
            continue
        address = f"{local}@{domain}".lower()
        if is_plausible(address):
            yield at - len(local), at + 1 + len(domain), address
            given += 1
            if given >= MAX_FOUND:
                return


def is_plausible(address: str) -> bool:
    """Refuse file names, placeholders, examples and machine identifiers."""
    local, _, domain = address.rpartition("@")
    if not local or len(local) > MAX_LOCAL or ".." in address or local[-1] == ".":
        return False
    if domain.rpartition(".")[2] in _FILE_ENDINGS or not is_public_name(domain):
        return False
    return not _is_placeholder(local, domain)


def trimmed_domain(domain: str) -> str | None:
    """Cut what text glued to the end of a domain: `acme.comTel` gives `acme.com`."""
    if is_public_name(domain):
        return domain
    head, _, last = domain.rpartition(".")
    turn = _CASE_TURN.match(last)
    if turn and is_public_name(f"{head}.{turn[1]}"):
        return f"{head}.{turn[1]}"
    # `info@acme.com.Call` and `a@acme.de.Tel`: the sentence went on without a space.
    if "." in head and last[:1].isupper() and is_public_name(head):
        return head
    digits = _DIGIT_TURN.match(last)
    if digits and is_public_name(f"{head}.{digits[1]}"):
        return f"{head}.{digits[1]}"
    return None


# The literal '@' first lets the matcher skip through text at memory speed.
_DOMAIN: Final = re.compile(
    r"@((?:[^\W_](?:[\w-]{0,61}[^\W_])?+\.){1,8}[^\W\d_][\w-]{1,30}+)"
)
_LOCAL: Final = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}$")
_LOCAL_JUNK: Final = "'.-!#$%&*+/=?^`{|}~"
_URL_LEFT: Final = re.compile(
    r"^(?:mailto:|u003[ce]|x22|x27|nbsp|%20|%22)+", re.IGNORECASE
)
_FILE_ENDINGS: Final = words(
    "png jpg jpeg jpe gif svg svgz webp avif bmp ico tif tiff heic js mjs css scss less "
    "map json xml html htm php asp aspx jsp woff woff2 ttf otf eot pdf doc docx xls xlsx "
    "ppt pptx zip rar gz tgz mp3 mp4 webm ogg wav avi mov wmv flv swf psd eps ts tsx vue"
)
_EXAMPLE_DOMAINS: Final = words(
    "example.com example.org example.net example.edu example.de example.fr example.es "
    "example.co.uk exemple.com exemple.fr ejemplo.com ejemplo.es esempio.it esempio.com "
    "exemplo.com exemplo.com.br beispiel.de voorbeeld.nl przyklad.pl priklad.cz "
    "domain.com domain.de domain.tld domain.co.uk domain.nl domaine.com domaine.fr "
    "dominio.com dominio.es dominio.it dominio.com.br domena.pl domena.cz "
    "yourdomain.com yourdomain.co.uk yoursite.com yourcompany.com yourwebsite.com "
    "yourbusiness.com your-domain.com mydomain.com mysite.com mycompany.com "
    "mywebsite.com votredomaine.com votredomaine.fr votresite.com tudominio.com "
    "tuempresa.com tuodominio.it tuosito.it seudominio.com.br suaempresa.com.br "
    "ihredomain.de ihre-domain.de deinedomain.de meinedomain.de musterfirma.de "
    "musterdomain.de muster.de jouwdomein.nl uwdomein.nl dittdoman.se twojadomena.pl "
    "company.com companyname.com website.com site.com sitename.com "
    "email.tld mail.tld test.com test.de tests.com sample.com address.com placeholder.com "
    "somewhere.com nowhere.com foo.com foobar.com xyz.com "
    "doe.com johndoe.com emailaddress.com youremail.com youraddress.com "
    "sentry.io sentry-next.wixpress.com sentry.wixpress.com wixpress.com ingest.sentry.io "
    "sentry.zendesk.com polyfill.io react.dev w3.org schema.org"
)
_MAIL_DOMAINS: Final = words(
    "email.com mail.com gmail.com yahoo.com hotmail.com outlook.com web.de gmx.de"
)
_PLACEHOLDER_LOCALS: Final = words(
    "name yourname your.name your_name your-name firstname first.last firstname.lastname "
    "first.name firstlast first_last you your youremail your.email your-email your_email "
    "youraddress email e-mail mail emailaddress email.address user username user.name "
    "user_name someone somebody anyone nobody xxx xxxx xxxxx xyz abc foo bar foobar "
    "example sample placeholder test tester testing john.doe johndoe john_doe jane.doe "
    "janedoe jdoe john.smith johnsmith johnny joe.bloggs max.mustermann mustermann "
    "maxmustermann erika.mustermann ihre.email ihre-email ihreemail ihr.name ihrname "
    "name.vorname vorname.nachname vorname nachname deine.email deinname nom prenom.nom "
    "nom.prenom votre.email votreemail votre.nom votrenom tu tuemail tucorreo tu.correo "
    "correo nombre nombre.apellido usuario tuonome tua.email tuaemail nome.cognome nome "
    "utente seuemail seu.email seunome nome.sobrenome uwnaam naam uw.naam jouwnaam "
    "voornaam.achternaam imie imie.nazwisko twojemail jmeno jmeno.prijmeni din.epost "
    "fornamn.efternamn ditt.namn adsoyad isim eposta me my myemail mymail my.name"
)
_ALWAYS_PLACEHOLDER: Final = words(
    "yourname your.name your_name your-name youremail your.email your-email your_email "
    "youraddress firstname.lastname first.last firstname lastname emailaddress "
    "ihre.email ihre-email vorname.nachname max.mustermann maxmustermann "
    "votre.email tuemail tucorreo nombre.apellido nome.cognome seuemail "
    "voornaam.achternaam imie.nazwisko john.doe johndoe jane.doe janedoe joe.bloggs"
)
_MACHINE: Final = re.compile(r"^[0-9a-f]{24,64}$")
_CASE_TURN: Final = re.compile(r"([a-z]{2,})[A-Z_]")
_DIGIT_TURN: Final = re.compile(r"([A-Za-z]{2,})[\d_-]")


def _is_placeholder(local: str, domain: str) -> bool:
    if domain in _EXAMPLE_DOMAINS or ".example." in f".{domain}.":
        return True
    if domain.endswith((".example", ".test", ".invalid", ".localhost", ".local")):
        return True
    if domain.endswith((".sentry.io", ".wixpress.com")) or _MACHINE.match(local):
        return True
    if local in _ALWAYS_PLACEHOLDER:
        return True
    return domain in _MAIL_DOMAINS and local in _PLACEHOLDER_LOCALS


def _local_before(text: str, at: int) -> str:
    window = text[max(0, at - MAX_LOCAL - 1) : at]
    match = _LOCAL.search(window)
    # A run longer than 64 characters is no local part at all.
    if not match or (match.start() == 0 and len(window) > MAX_LOCAL):
        return ""
    local = _URL_LEFT.sub("", match[0]).lstrip(_LOCAL_JUNK)
    if not local.isascii():
        local = _ascii_tail(local)
    for sign in "=?&/":
        local = local.rpartition(sign)[2]
    return local.lstrip(_LOCAL_JUNK)


def _ascii_tail(local: str) -> str:
    """Keep what follows the last foreign letter: 邮箱info becomes info."""
    for place in range(len(local) - 1, -1, -1):
        if not local[place].isascii() and not _is_latin(local[place]):
            return local[place + 1 :]
    return local


def _is_latin(letter: str) -> bool:
    return "\u00c0" <= letter <= "\u024f"
