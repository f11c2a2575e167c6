"""What an address looks like in plain text, and what only looks like one."""

import re
from collections.abc import Iterator
from typing import Final

from contact_extraction.email_quality import is_mail_host, is_role
from contact_extraction.html import words

MAX_FOUND: Final = 2_000
MAX_LOCAL: Final = 64
MAX_TRIES: Final = 10_000
MAX_SIGNS: Final = 50_000
"""No honest page has more '@'; what follows is not read."""


def addresses_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and address for each plain address of a text, in linear time."""
    for start, end, address, is_template in all_addresses_in(text):
        if not is_template:
            yield start, end, address


def all_addresses_in(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield also those that templates come with, marked: they reach nobody."""
    given = 0
    text = text.replace("\uff20", "@")
    if "@" not in text:
        return
    if text.count("@") > MAX_SIGNS:
        text = "@".join(text.split("@", MAX_SIGNS)[:MAX_SIGNS])
    for tries, match in enumerate(_DOMAIN.finditer(text)):
        if tries > MAX_TRIES:
            return
        if match[1].rpartition(".")[2] in _FILE_ENDINGS:
            continue
        at = match.start()
        written = local_before(text, at)
        if not written or _is_login(text, at, written, match.end()):
            continue
        domain = trimmed_domain(match[1])
        if domain is None:
            continue
        address = without_spam_words(f"{written}@{domain}".lower())
        local, _, host = address.rpartition("@")
        if _is_address(local, host):
            end = at + 1 + len(domain)
            yield at - len(written), end, address, _is_placeholder(local, host)
            given += 1
            if given >= MAX_FOUND:
                return


def addresses_in_field(text: str) -> list[str]:
    """Give the addresses of a value that holds nothing else: there a sign is part of one."""
    found = [address for _, _, address in addresses_in(text)]
    if not found and _WHOLE.fullmatch(text) and is_plausible(text.lower()):
        return [text.lower()]
    return found


def is_plausible(address: str) -> bool:
    """Refuse file names, placeholders, examples and machine identifiers."""
    local, _, domain = address.rpartition("@")
    return _is_address(local, domain) and not _is_placeholder(local, domain)


def _is_address(local: str, domain: str) -> bool:
    return _is_well_formed(local, domain) and not _is_machine(local, domain)


def _is_well_formed(local: str, domain: str) -> bool:
    if not local or len(local) > MAX_LOCAL or ".." in f"{local}@{domain}":
        return False
    is_file = domain.rpartition(".")[2] in _FILE_ENDINGS
    return local[-1] != "." and not is_file and is_mail_host(domain)


def trimmed_domain(domain: str) -> str | None:
    """Cut what text glued to the end of a domain: `acme.comTel` gives `acme.com`."""
    if is_mail_host(domain):
        return domain
    head, _, last = domain.rpartition(".")
    turn = _CASE_TURN.match(last)
    if turn and is_mail_host(f"{head}.{turn[1]}"):
        return f"{head}.{turn[1]}"
    # `info@acme.com.Call` and `a@acme.de.Tel`: the sentence went on without a space.
    if "." in head and last[:1].isupper() and is_mail_host(head):
        return head
    digits = _DIGIT_TURN.match(last)
    if digits and is_mail_host(f"{head}.{digits[1]}"):
        return f"{head}.{digits[1]}"
    return None


# The literal '@' first lets the matcher skip through text at memory speed.
_DOMAIN: Final = re.compile(
    r"@((?:[^\W_](?:[\w-]{0,61}[^\W_])?+\.){1,8}[^\W\d_][\w-]{1,30}+)"
)
MAX_LEFT: Final = 200
SIGNS: Final = "!#$%&'*+/=?^`{|}~-."
"""What a local part may hold beside letters, digits and the underscore."""
# Read backwards from the "@", so that no other word of a text is tried.
_LOCAL: Final = re.compile(rf"[\w{re.escape(SIGNS)}]{{1,200}}")
# Templates write {name} and $name, masks write stars: such a field holds no address.
_WHOLE: Final = re.compile(r"[\w.!#&'+/=?~-]{1,64}@[\w.-]{3,255}")
# Signs that part words more often than they stand in an address.
_PARTING: Final = re.compile(r"[!#$%/=?^`{|}~]")
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
    "doe.com johndoe.com emailaddress.com youremail.com youraddress.com"
)
_MACHINE_DOMAINS: Final = words(
    "sentry.io wixpress.com sentry.zendesk.com polyfill.io react.dev w3.org schema.org "
    "mail.gmail.com"
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
_MACHINE: Final = re.compile(
    r"^(?=[a-f]{0,15}\d)(?=\d{0,15}[a-f])[0-9a-f]{16,64}$|^[0-9a-f]{24,64}$"
    r"|\d{14}|^[\w=+-]{40,}$"
)
# "Your company" and the like, as templates write a domain in many languages.
_PLACEHOLDER_NAME: Final = re.compile(
    r"(?:(?:the|il|la|le)-?)?(?:your|tuo|tua|nome|name|ihre?|deine?|votre|nom-?de|nombre|"
    r"seu|sua|uw|jouw|naam|twoj[ae]?|vas[ae]?|din|ditt|my|mio|mia|meine?|mon|mi|meu|minha|"
    r"mijn|moj[ae]?|min|mitt)-?(?:domain|domaine?|dominio|domein|domena|doman|website|"
    r"webseite|sito|sitio|company|firma|firme|azienda|attivita|impresa|empresa|negocio|"
    r"entreprise|societe|bedrijf|firmy|business|organization|organisation|mail|email)-?"
    r"(?:name|here|web)?|(?:company|business|firm|domain|site|website|azienda)-?name"
)
_CASE_TURN: Final = re.compile(r"([a-z]{2,})[A-Z_]")
_DIGIT_TURN: Final = re.compile(r"([A-Za-z]{2,})[\d_-]")


def _is_machine(local: str, domain: str) -> bool:
    """Distinguish keys and message ids from addresses of people."""
    if domain in _MACHINE_DOMAINS or domain.endswith((".sentry.io", ".wixpress.com")):
        return True
    return bool(_MACHINE.search(local))


def _is_placeholder(local: str, domain: str) -> bool:
    if domain in _EXAMPLE_DOMAINS or ".example." in f".{domain}.":
        return True
    if domain.endswith((".example", ".test", ".invalid", ".localhost", ".local")):
        return True
    if local in _ALWAYS_PLACEHOLDER:
        return True
    if _PLACEHOLDER_NAME.fullmatch(domain.partition(".")[0]):
        return True
    return domain in _MAIL_DOMAINS and local in _PLACEHOLDER_LOCALS


def local_before(text: str, at: int) -> str:
    """Give the part before the sign; '' if it is none, or the end of a longer one."""
    window = text[max(0, at - MAX_LEFT) : at]
    if not window.isascii():
        window = window.translate(_TYPESET)
    match = _LOCAL.match(window[::-1])
    if not match:
        return ""
    before, written = window[: -match.end()], window[-match.end() :]
    if before.endswith("\\") and _ESCAPED_SIGN.match(written):
        return ""
    run = _URL_LEFT.sub("", written.rpartition("&nbsp")[2]).lstrip(_LOCAL_JUNK)
    local = _own_part(run, is_url="//" in written and before.endswith(":"))
    if not local.isascii():
        local = _without_glued_text(local)
    local = local.lstrip(_LOCAL_JUNK)
    # What is longer, or masked, is not an address; its end would be another one's.
    if len(local) > MAX_LOCAL or "*" in local:
        return ""
    before = text[max(0, at - len(local) - 3) : at - len(local)]
    return "" if before.endswith(_BEFORE_NO_ADDRESS) else local


def _own_part(run: str, *, is_url: bool) -> str:
    """Give what is surely a local part of its own: all of a run, or what a sign parts off.

    The end of `am&p` or `a/b` is somebody else. It is taken only behind a label, in a
    URL, or where it is a shared inbox and the sign one of those between two words.
    """
    signs = list(_PARTING.finditer(run))
    if not signs:
        return run
    left, sign, right = run[: signs[-1].start()], signs[-1][0], run[signs[-1].end() :]
    if sign in _BETWEEN_WORDS and is_role(right.lower()):
        return right
    is_query = sign == "=" and bool(_QUERY.search(left))
    if is_query or (is_url and sign in "/?#"):
        return "" if "&" in right else right
    return right if _LABEL_BEFORE.search(left) else ""


_BETWEEN_WORDS: Final = "/|!?"
_LABEL_BEFORE: Final = re.compile(
    r"(?:^|[^\w&])(?:e-?mails?(?:[ -]?add?ress\w{0,2})?|mail(?:to)?|courriel|correo|e-?post|"
    r"e-?posta|posta|poczta|sähköposti|pec|contact[os]?|kontakt[ei]?|contatti?|tel(?:efon)?|"
    r"phone|fax|telefax|href|value)[.:]?$",
    re.IGNORECASE,
)
_QUERY: Final = re.compile(r"\?(?:[^?]*&)?[\w.\[\]-]{1,40}$")
# `\\u0026` and `\\x26` are signs that nobody decoded, so what follows is the end of a word.
_ESCAPED_SIGN: Final = re.compile(
    r"(?:u00|x)(?:2[1-7bdef]|3[df]|5[ef]|60|7[b-e])|/", re.IGNORECASE
)
# The apostrophe and the hyphen as typesetting writes them.
_TYPESET: Final = {0x2019: "'", 0x2010: "-", 0x2011: "-"}


# The second sign of @ann@mastodon.social, and the signs that mask letters.
_BEFORE_NO_ADDRESS: Final = ("@", "***", "•", "●", "…", "█")


def _is_login(text: str, at: int, local: str, end: int) -> bool:
    """Distinguish keys in URLs, prompts of a shell and message ids from addresses."""
    if local.lower() == "git":
        return True
    before = text[max(0, at - len(local) - LEFT_OF_LOGIN) : at - len(local)]
    after = text[end : end + 3]
    if before.endswith("://") or _PASSWORD.search(before):
        return after[:1] in ("/", ":")
    return bool(_PROMPT.match(after)) or bool(_MESSAGE_ID.search(before))


LEFT_OF_LOGIN: Final = 80
_PASSWORD: Final = re.compile(r"://[^\s/@]{1,36}:$")
_PROMPT: Final = re.compile(r":[~/$#%]| ~\]|:\\")
_MESSAGE_ID: Final = re.compile(
    r"(?:message-id|in-reply-to|references)\s?:\s?<?[^\s<>]{0,60}$", re.IGNORECASE
)


def without_spam_words(address: str) -> str:
    """Take out what people put in an address to keep machines from using it."""
    if not any(word in address for word in _SPAM_WORDS):
        return address
    local, _, domain = address.rpartition("@")
    local = _SPAM_IN_LOCAL.sub("", local) or local
    labels = [label for label in domain.split(".") if not _SPAM_LABEL.match(label)]
    return f"{local}@{'.'.join(labels)}"


_SPAM_WORDS: Final = ("spam", "remove", "entfernen", "weg-")
_SPAM_WORD: Final = (
    r"(?:no-?spam|remove-?this|remove-?me|entfernen|anti-?spam|sin-?spam|pas-?de-?spam|"
    r"bez-?spamu|kein-?spam|stop-?spam)"
)
_SPAM_IN_LOCAL: Final = re.compile(rf"[-_.+]{_SPAM_WORD}$|^{_SPAM_WORD}[-_.+]")
_SPAM_LABEL: Final = re.compile(rf"{_SPAM_WORD}$")


def _without_glued_text(local: str) -> str:
    """Cut text of a script without spaces: 邮箱info becomes info.

    Other scripts part words, so a local part that mixes them is one of its own.
    """
    for place in range(len(local) - 1, -1, -1):
        letter = local[place]
        if letter.isascii() or _is_latin(letter):
            continue
        rest = local[place + 1 :]
        return rest if letter >= _FIRST_UNSPACED and rest[:1].isalnum() else ""
    return local


_FIRST_UNSPACED: Final = "\u0e00"
"""Thai, Lao, Burmese, Khmer and all of East Asia come after it, and few others."""


def _is_latin(letter: str) -> bool:
    return "\u00c0" <= letter <= "\u024f"
