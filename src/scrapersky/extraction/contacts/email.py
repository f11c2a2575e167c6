"""Find e-mail addresses, also those written to hide from machines.

Addresses that CSS hides are bait for machines: they are refused unless the page also
shows them. Every search is linear: a cheap `in` test or an '@' comes first.
"""

import html as entities
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final
from urllib.parse import unquote

from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.contacts.script import written_by_script
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.email_quality import is_public_name
from scrapersky.extraction.html import Page, clean, words

MAX_FOUND: Final = 2_000
MAX_LOCAL: Final = 64
MAX_TRIES: Final = 10_000
MAX_SPELLED: Final = 300
MAX_SIGNS: Final = 50_000
"""No honest page has more '@'; what follows is not read."""


def find_emails(sheet: Sheet) -> list[Found]:
    """Find every address of a page, each sighting once per place and method."""
    page = sheet.page
    found = [
        *_from_links(page),
        *_from_text(sheet),
        *_from_obfuscation(sheet),
        *_from_cloudflare(page),
        *_from_scripts(page),
        *_from_attributes(page),
        *_from_images(page),
    ]
    shown = [f for f in found if not f.details.get("hidden")]
    return shown[:MAX_FOUND]


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
        domain = _trimmed_domain(match[1])
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


def _trimmed_domain(domain: str) -> str | None:
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


_CASE_TURN: Final = re.compile(r"([a-z]{2,})[A-Z_]")
_DIGIT_TURN: Final = re.compile(r"([A-Za-z]{2,})[\d_-]")


def _from_text(sheet: Sheet) -> Iterator[Found]:
    for start, end, address in addresses_in(sheet.visible_text):
        yield Found(
            key=address,
            value=address,
            method=Method.TEXT,
            line=sheet.line_at(start),
            start=start,
            end=end,
            snippet=sheet.snippet(start, end),
        )


def _from_links(page: Page) -> Iterator[Found]:
    for link in page.links:
        href = link.href
        low = href[:40].lower()
        if low.startswith(_MAILTO):
            target = entities.unescape(unquote(href[7:5000]))
            yield from _from_mailto(target, link.line, link.text, hidden=link.hidden)
        elif "uncryptmailto" in low or "decryptmailto" in low:
            target = _typo3(href[:2000])
            yield from _from_mailto(target, link.line, link.text, hidden=link.hidden)
        elif "email-protection#" in href[:200]:
            address = _cloudflare(href.rpartition("#")[2])
            yield from _as_found(
                [address], Method.CLOUDFLARE, link.line, link.text, hidden=link.hidden
            )


_MAILTO: Final = ("mailto:", "mailto ", "maito:", "mail-to:", "malito:", "emailto:")


def _from_mailto(target: str, line: int, text: str, *, hidden: bool) -> Iterator[Found]:
    head, _, query = target.partition("?")
    parts = re.split(r"[,;]", head[:2000])[:50]
    for name in ("to", "cc", "bcc"):
        parts += re.findall(rf"(?:^|&){name}=([^&]{{3,200}})", query[:2000])
    addresses = []
    for part in parts:
        written = clean(part.replace("mailto:", "").strip(" <>\"'/"))
        plain = _deobfuscated(written) or written
        addresses += [found for _, _, found in addresses_in(plain)]
    yield from _as_found(addresses, Method.MAILTO, line, text, hidden=hidden)


def _as_found(
    addresses: Iterable[str | None],
    method: Method,
    line: int,
    context: str,
    *,
    hidden: bool = False,
) -> Iterator[Found]:
    for address in addresses:
        if address and is_plausible(address):
            yield Found(
                key=address,
                value=address,
                method=method,
                line=line,
                snippet=_snippet(context, address),
                details={"hidden": "yes"} if hidden else {},
            )


def _snippet(context: str, address: str) -> str:
    if address in context.lower():
        return context[:200]
    room = max(0, 197 - len(address))
    return f"{context[:room]} <{address}>".strip()[:200]


def _from_cloudflare(page: Page) -> Iterator[Found]:
    for code, line in page.protected[:MAX_FOUND]:
        yield from _as_found([_cloudflare(code)], Method.CLOUDFLARE, line, "")


def _cloudflare(code: str) -> str | None:
    """Decode Cloudflare's hexadecimal address: the first byte is the key."""
    try:
        data = bytes.fromhex(code[:400])
    except ValueError:
        return None
    if len(data) < 4:
        return None
    text = bytes(byte ^ data[0] for byte in data[1:]).decode("utf-8", "replace")
    return next((found for _, _, found in addresses_in(text)), None)


def _typo3(href: str) -> str:
    """Undo the letter shift of TYPO3's mail links by looking for `mailto:`."""
    match = re.search(r"[\"'(]([^\"']{8,500})[\"')]", unquote(href))
    if not match:
        return ""
    secret = match[1]
    for shift in range(-25, 26):
        if shift and _shifted(secret[:7], shift).lower() == "mailto:":
            return _shifted(secret, shift)[7:]
    return ""


_SHIFT_RANGES: Final = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))


def _shifted(text: str, shift: int) -> str:
    letters = []
    for letter in text:
        code = ord(letter)
        for low, high in _SHIFT_RANGES:
            if low <= code <= high:
                code = low + (code - low + shift) % (high - low + 1)
                break
        letters.append(chr(code))
    return "".join(letters)


def _from_scripts(page: Page) -> Iterator[Found]:
    for script in page.scripts:
        if script.text and "json" not in script.type:
            for text in written_by_script(script.text):
                target = entities.unescape(unquote(text)) if "%" in text else text
                addresses = [a for _, _, a in addresses_in(entities.unescape(target))]
                yield from _as_found(addresses, Method.SCRIPT, -1, "")


def _from_attributes(page: Page) -> Iterator[Found]:
    for attributes in page.mail_attributes:
        whole = _address_of_attributes(attributes)
        yield from _as_found([whole], Method.ATTRIBUTE, -1, "")


def _address_of_attributes(attributes: dict[str, str]) -> str | None:
    low = {name.lower(): value for name, value in attributes.items()}
    for name in (
        "data-email",
        "data-mail",
        "data-mailto",
        "data-e-mail",
        "data-address",
    ):
        value = unquote(low.get(name, ""))
        for text in (value, value[::-1], _deobfuscated(value) or ""):
            found = next((a for _, _, a in addresses_in(text)), None)
            if found:
                return found
    local = next((low[n] for n in _LOCAL_NAMES if low.get(n)), "")
    domain = next((low[n] for n in _DOMAIN_NAMES if low.get(n)), "")
    ending = low.get("data-tld", "")
    if local and domain:
        domain = f"{domain}.{ending}" if ending else domain
        text = f"{local}@{domain.lstrip('@')}"
        return next((a for _, _, a in addresses_in(text)), None)
    return None


_LOCAL_NAMES: Final = ("data-user", "data-name", "data-local", "data-u", "data-account")
_DOMAIN_NAMES: Final = ("data-domain", "data-host", "data-website", "data-d")


def _from_images(page: Page) -> Iterator[Found]:
    for image in page.images:
        if "@" in image.alt and not image.hidden:
            addresses = [address for _, _, address in addresses_in(image.alt)]
            yield from _as_found(addresses, Method.IMAGE, image.line, image.alt)


# "at" as people write it to fool machines, by language; longest first.
_AT_WORDS: Final = (
    "apenstaartje|apestaartje|klammeraffe|affenschwanz|chiocciola|snabel-?a|"
    "krøllalfa|kr.llalfa|zavin[aá][cč]|arroba|arobase|arrobas|kukac|ma[lł]pa|"
    "ätt?|aett|at|ad|et-?merkki|miukumauku|собака|собачка|アット(?:マーク)?|あっと|"
    "アットマーク|골뱅이|at-sign|atsign|ät|a"
)
_DOT_WORDS: Final = (
    "punktum|punkt|punto|point|ponto|punt|piste|prick|te[cč]ka|bodka|kropka|nokta|"
    "pont|točka|точка|тчк|ドット|どっと|dot|doot|d0t|점"
)
_OPEN: Final = r"[\[({<*|«»【（［〈《]"
_CLOSE: Final = r"[\])}>*|«»】）］〉》]"
_BRACKET_AT: Final = re.compile(
    rf"{_OPEN}{{1,2}}[\s\"']{{0,3}}(?=[^\W\d_]|@)(?:{_AT_WORDS}|@)[\s\"']{{0,3}}{_CLOSE}{{1,2}}"
    r"[\s\u00a0]{0,3}",
    re.IGNORECASE,
)
_BRACKET_DOT: Final = re.compile(
    rf"[\s\u00a0]{{0,3}}{_OPEN}{{1,2}}[\s\"']{{0,3}}(?:{_DOT_WORDS}|\.)[\s\"']{{0,3}}{_CLOSE}{{1,2}}"
    r"[\s\u00a0]{0,3}",
    re.IGNORECASE,
)
# Which words for '@' and '.' go together, so that "meet at noon. Point com" is nothing.
_PAIRS: Final = (
    ("at|ät", "dot|punkt|punt"),
    ("arroba", "punto|ponto|dot"),
    ("arobase", "point|dot"),
    ("chiocciola", "punto"),
    ("snabel-?a|krøllalfa", "punkt|punktum|prick|dot"),
    ("zavin[aá][cč]", "te[cč]ka|bodka|dot"),
    ("ma[lł]pa", "kropka|dot"),
    ("apenstaartje", "punt|dot"),
    ("kukac", "pont"),
    ("собака", "точка"),
)
_SPELLED: Final = tuple(
    re.compile(
        rf"([\w+-]{{1,40}}(?: (?:{dot}) [\w+-]{{1,40}}){{0,2}}) (?:{at}) "
        rf"([\w-]{{1,63}}(?: (?:{dot}) [\w-]{{2,63}}){{1,3}})(?!\w)",
        re.IGNORECASE,
    )
    for at, dot in _PAIRS
)
_SPELLED_DOTS: Final = tuple(
    re.compile(rf" (?:{dot}) ", re.IGNORECASE) for _, dot in _PAIRS
)
_SPACED_AT: Final = re.compile(r"(?<=\w) {0,2}[@\uff20] {0,2}(?=\w)")
_STAR_AT: Final = re.compile(r"(?<=[\w])[★☆■◎●](?=[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})")
_NO_SPAM: Final = re.compile(
    r"[-_.]?(?:no-?spam|nospam|remove-?this|removethis|entfernen|antispam|"
    r"sin-?spam|pasdespam|bez-?spamu|REMOVE)[-_.]?",
    re.IGNORECASE,
)
_WINDOW: Final = 90


def _from_obfuscation(sheet: Sheet) -> Iterator[Found]:
    """Look at a small window around each sign that stands for '@'."""
    text = sheet.visible_text
    seen: set[str] = set()
    given = 0
    for start, end, address in _spelled_out(text):
        yield Found(
            key=address,
            value=address,
            method=Method.OBFUSCATED,
            line=sheet.line_at(start),
            start=start,
            end=end,
            snippet=_snippet(sheet.snippet(start, end)[:120], address),
        )
    for pattern, start, end in _at_signs(text):
        line = sheet.line_at(start)
        left = max(sheet.starts[line], start - _WINDOW)
        stop = sheet.starts[line] + len(sheet.lines[line].text)
        right = min(stop, end + _WINDOW)
        joined = _joined(text[left:start].rstrip(), text[end:right], pattern)
        if joined and (key := f"{joined}{line}") not in seen:
            seen.add(key)
            given += 1
            yield Found(
                key=joined,
                value=joined,
                method=Method.OBFUSCATED,
                line=line,
                start=start,
                end=end,
                snippet=_snippet(sheet.snippet(start, end)[:120], joined),
            )
        if given > MAX_FOUND:
            return


def _at_signs(text: str) -> Iterator[tuple[str, int, int]]:
    for count, match in enumerate(_BRACKET_AT.finditer(text)):
        if count > MAX_FOUND:
            break
        # "firma(a)seznam.cz" is an address, "clause (a) acme.com" is none.
        word = match[0].strip(" []{}()<>\"'").lower()
        if word in ("a", "ad") and text[match.start() - 1 : match.start()].isspace():
            continue
        yield "bracket", match.start(), match.end()
    if "@ " in text or " @" in text or "\uff20" in text:
        for count, match in enumerate(_SPACED_AT.finditer(text)):
            if count > MAX_FOUND:
                break
            yield "spaced", match.start(), match.end()
    if " AT " in text:
        for count, match in enumerate(_CAPITAL_AT.finditer(text)):
            if count > MAX_FOUND:
                break
            yield "capital", match.start(), match.end()
    if "★" in text or "☆" in text:
        for count, match in enumerate(_STAR_AT.finditer(text)):
            if count > MAX_FOUND:
                break
            yield "bracket", match.start(), match.end()


_CAPITAL_AT: Final = re.compile(r"(?<=[a-z0-9]) AT (?=[a-z0-9])")
_AT_WORDS_SPELLED: Final = (
    (" at ", " ät "), (" arroba ",), (" arobase ",), (" chiocciola ",),
    (" snabel-a ", " snabela ", " krøllalfa "), (" zavináč ", " zavinac "),
    (" małpa ", " malpa "), (" apenstaartje ",), (" kukac ",), (" собака ",),
)  # fmt: skip
_DOT_HINTS: Final = (
    " dot ", " punkt ", " punt ", " punto ", " ponto ", " point ", " punktum ", " prick ",
    " tečka ", " tecka ", " bodka ", " kropka ", " pont ", " точка ",
)  # fmt: skip


def _spelled_out(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield addresses written in words: `ann at acme dot com`.

    Only the surroundings of a word for '@' that has a word for '.' near are looked at.
    """
    low = text.lower()
    if len(low) != len(text) or not any(hint in low for hint in _DOT_HINTS):
        return
    for pattern, dots, spellings in zip(
        _SPELLED, _SPELLED_DOTS, _AT_WORDS_SPELLED, strict=True
    ):
        for spelling in spellings:
            place = low.find(spelling)
            tries = 0
            while place >= 0 and tries < MAX_SPELLED:
                window = text[max(0, place - _WINDOW) : place + _WINDOW]
                if dots.search(window):
                    tries += 1
                    yield from _spelled_in(
                        window, max(0, place - _WINDOW), pattern, dots
                    )
                place = low.find(spelling, place + 1)


def _spelled_in(
    window: str, offset: int, pattern: re.Pattern[str], dots: re.Pattern[str]
) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(window):
        address = f"{dots.sub('.', match[1])}@{dots.sub('.', match[2])}".lower()
        if address.isascii() and is_plausible(address):
            yield offset + match.start(), offset + match.end(), address


_DOT_AFTER_LABEL: Final = re.compile(
    rf"^([\w-]{{1,63}}) (?:{_DOT_WORDS}) (?=[a-z]{{2,10}}\b)", re.IGNORECASE
)
_TAIL_LOCAL: Final = re.compile(r"[\w.+'-]{1,64}$")
_HEAD_DOMAIN: Final = re.compile(r"(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24}")


def _joined(left: str, right: str, pattern: str) -> str | None:
    left = _BRACKET_DOT.sub(".", left)
    right = _BRACKET_DOT.sub(".", right)
    if pattern == "bracket":
        right = _DOT_AFTER_LABEL.sub(r"\1.", right)
        right = re.sub(r"^([\w-]{1,63}) ?\. ?(?=[a-z]{2,10}\b)", r"\1.", right)
    local = _TAIL_LOCAL.search(left)
    domain = _HEAD_DOMAIN.match(right)
    if not local or not domain:
        return None
    name = local[0].strip(".-'").lower()
    host = _trimmed_domain(domain[0])
    if host is None or not name or not name.isascii():
        return None
    if pattern == "spaced" and name in _COMMON_BEFORE_AT:
        return None
    address = _NO_SPAM.sub("", f"{name}@{host.lower()}")
    return address if is_plausible(address) else None


_COMMON_BEFORE_AT: Final = words("us me me: at follow tweet email e-mail mail on is")


@cache
def _translations() -> dict[str, str]:
    return {"＠": "@", "．": "."}


def _deobfuscated(text: str) -> str | None:
    """Undo `[at]` and `(dot)` in a short string that should be one address."""
    if "@" in text and "(" not in text and "[" not in text:
        return None
    for wide, plain in _translations().items():
        text = text.replace(wide, plain)
    match = _BRACKET_AT.search(text)
    if match:
        return _joined(text[: match.start()], text[match.end() :], "bracket")
    spelled = next((address for _, _, address in _spelled_out(text)), None)
    return spelled or _NO_SPAM.sub("", _BRACKET_DOT.sub(".", text))
