"""Whose a value is: the business's own, or that of somebody the page only mentions.

Imprints name chambers and authorities, footers the web designer, practices those who
stand in for them, privacy statements the hoster. What a value stands under decides.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from contact_extraction.contacts.model import (
    OWN,
    Found,
    FoundPerson,
    FoundPhone,
    Owner,
    Whose,
)
from contact_extraction.contacts.sheet import Sheet
from contact_extraction.email_quality import is_listed, judge_email
from contact_extraction.html import words
from contact_extraction.urls import registrable_domain

REACH: Final = 10
"""How many lines above a value may say whose it is."""
MAX_NAME: Final = 120
MAX_SENTENCE: Final = 400
MAX_FAR: Final = 80
MAX_LABEL: Final = 25

# Bodies that supervise, settle disputes, insure or protect data.
_BODY: Final = (
    r"\w*kammer(?: \w+)?\b|kammer für|kassen(?:zahn)?ärztliche|\bkzv\w*|aufsichtsbehörde|aufsichts- und|"
    r"bezirksregierung|regierungspräsidium|landesamt|landratsamt|gesundheitsamt|finanzamt|"
    r"gewerbeamt|ordnungsamt|bezirkshauptmannschaft|amtsgericht|schlichtung\w*|ombuds\w*|"
    r"verbraucherzentrale|(?:landes|bundes|hessische\w? |bayerische\w? )(?:datenschutz)?beauftragte\w*|"
    r"datenschutzbeauftragte[rn]? (?:des landes|für den datenschutz|von|des bundes)|"
    r"datenschutz(?:behörde|aufsicht)|"
    r"arbitration|dispute resolution|bar association|law society|medical (?:board|council)|"
    r"dental (?:board|council)|licensing board|state board|"
    r"(?:information|data protection) commissioner|data protection authority|\bico\b|\bcnil\b|\baepd\b|"
    r"garante (?:per|privacy|della)|autoriteit persoonsgegevens|geschillencommissie|datainspektionen|"
    r"datatilsynet|integritetsskyddsmyndigheten|tietosuojavaltuutet\w*|urz[ęe]d\w* ochrony danych|\buodo\b|"
    r"prezes urz[ęe]du|médiateur|médiation|ordre (?:des|national)|ordine (?:degli|dei)|"
    r"colegio (?:oficial|de)|izba (?:lekarska|adwokacka|notarialna|komornicza)|"
    r"ordem dos|entidade reguladora|\bcnpd\b|livro de reclama\w+|centro de arbitragem|\bnaih\b|békéltető testület|"
    r"(?:advokátní|lékařská|stomatologická|notářská|lekárska|advokátska) komora|(?:česká )?obchodní inspekce|\bčoi\b|"
    r"úřad pro ochranu|\banpc\b|baroul|colegiul (?:medicilor|medicilor dentiști)|odvjetnička komora|"
    r"tilsynet|klagenævn\w*|forbrukerrådet|kuluttajariitalautakunta|reklamationsnämnden"
)
# What announces one of them.
_LABEL: Final = (
    r"berufshaftpflicht\w*|haftpflichtversicher\w*|liability insur\w*|regulated by|"
    r"supervisory authority|regulatory body|complaints? (?:to|body)"
)
# Who looks after data, mostly for many firms at once.
_OFFICER: Final = (
    r"datenschutzbeauftragte[rn]?\b|data protection officer|délégué\w* à la protection|"
    r"delegado de protecci[oó]n|encarregado d[ae] prote[cç]|responsabile (?:della )?protezione dei dati|"
    r"functionaris (?:voor )?gegevensbescherming|inspektor\w* ochrony danych|dataskyddsombud\w*"
)
# Who made, hosts or fills the website.
_MAKER: Final = (
    r"hébergeu\w*|hébergement|(?:web)?site hosted by|web ?hosting|hosting(?=[-:]|$| by| provider)|hoster\b|web ?host\b|webdesign\w*|web ?design(?:er)?\b|"
    r"website (?:by|design|created|developed|made)|(?<!on-)site (?:by|design|created|developed|made)\b|"
    r"(?:designed|developed|created|built) by|(?:design|umsetzung|realisierung|konzept\w*|"
    r"programmierung|gestaltung)(?: (?:und|&) \w+)? ?(?:by|von|durch|:)|"
    r"(?:konzept\w*|gestaltung|design|layout)(?:, \w+)? (?:und|&) (?:programmierung|umsetzung|realisierung|technik)\b|création (?:du|de) site|"
    r"réalis(?:ation|é)\w* (?:du|par|de)|conception (?:du|et|graphique|:)|développ\w+ (?:par|du site)|"
    r"sito (?:web )?(?:creato|realizzato|sviluppato|a cura)|realizzazione (?:sito|a cura)|realizzato da|"
    r"diseñ(?:o|ado) (?:web|por)|desarrollado por|desenvolvido por|website (?:door|gemaakt)|"
    r"(?:projekt|wykonanie|realizacja)(?: strony| i wykonanie)?:|webbyrå|hjemmeside af|"
    r"bildnachweis\w*|bildquelle\w*|fotos?(?: von|:| by)|photo(?:s|graphy)? (?:by|credits?)|crédits? photo\w*|"
    r"domain (?:registra\w+)|criado por|alojamiento web|hospeda(?:do|je|gem)\b|"
    r"tvorba (?:webu|www|stránek)|webové stránky (?:vytvořil\w*|:)|vytvořil[ao]?\b|készítette|honlapkészítés|tárhely\w*|"
    r"(?:hjemmeside|nettside|webbplats|hemsida) (?:af|av|lavet af|laget av|skapad av)|webbyrå|verkkosivut:|"
    r"sivuston toteutus|realizare (?:site|web)|izrada (?:web|stranica)\w*|hébergé par|strona (?:www )?(?:stworzona|wykonana)"
)
# Others who help while the business cannot.
_HELPER: Final = (
    r"vertretung(?:en|spra\w+)?\b(?! (?:durch|berechtigt))|vertretungsarzt|urlaubsvertretung|"
    r"out[- ]of[- ]hours|giftnotruf\w*|giftinformation\w*|poison|bereitschaftsdienst\w*|bereitschaftspraxis|"
    r"ärztlicher notdienst|zahnärztlicher notdienst|apotheken?notdienst|telefonseelsorge|krisen\w+|"
    r"frauenhelpline|frauennotruf|kinderschutz\w*|safeguarding|samaritans|lifeline|crisis (?:line|text|centre|center)|"
    r"suicide|whistleblow\w*|childline|nspcc|nhs 111|emergency room|"
    r"huisartsenpost|spoeddienst|jourcentral|guardia m[ée]dica|médecin de garde|samu\b|partner ?krankenhaus|"
    r"kooperationspartner|belegkrankenhaus|local authority|council's|citizens advice"
)
_OTHERS: Final = re.compile(
    rf"(?<!\w)(?:(?P<body>{_BODY})|(?P<label>{_LABEL})|(?P<maker>{_MAKER})|"
    rf"(?P<helper>{_HELPER})|(?P<officer>{_OFFICER}))",
    re.IGNORECASE,
)
# A heading or label that begins the business's own data again.
_OWN_AGAIN: Final = re.compile(
    r"^(?:kontakt(?:daten)?|contact(?: us| details| info\w*)?|contatti|contacto|contactez|anfahrt|"
    r"so erreichen sie uns|unsere praxis|our (?:office|practice|clinic)s?|impressum|find us|"
    r"visit us|adresse|anschrift|standort\w*|locations?|offices?|öffnungszeiten|opening hours|"
    r"sprechzeiten|call us|praxis|kanzlei|angaben gemäß .*|diensteanbieter|verantwortliche(?:r|"
    r" stelle)?|data controller|responsible (?:party|for .*)|vertreten durch)[\s:.]*$",
    re.IGNORECASE,
)
_MAKER_HOSTS: Final = words(
    "jouwweb.nl strato.de ionos.de ionos.com ovh.com ovh.net godaddy.com one.com hostinger.com "
    "all-inkl.com hetzner.com hetzner.de jimdo.com wix.com squarespace.com weebly.com webador.com "
    "google.com facebook.com meta.com doctolib.de doctolib.fr jameda.de wordpress.com wordpress.org "
    "e-recht24.de cookiebot.com mailchimp.com microsoft.com apple.com adobe.com sentry.io"
)
_AUTHORITY_HOST: Final = re.compile(
    r"kammer|datenschutz|(?:^|\.)(?:kzv|kv|rak|brak|bzaek|lzk|aek)[a-z-]*\.|bundesanzeiger|\.gov(?:\.|$)|"
    r"\.gouv\.|cnil\.fr|garanteprivacy|aepd\.es|uodo\.gov|ico\.org\.uk|schlichtung|ombuds|europa\.eu|"
    r"autoriteitpersoonsgegevens|imy\.se|datatilsynet|dsb\.gv|bayern\.de$|hessen\.de$|nrw\.de$"
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of the page whose values are judged."""

    sheet: Sheet
    site: str | None
    is_privacy: bool
    firm: frozenset[str] = frozenset()
    """Folded words of what the page calls the business."""
    others: dict[int, Owner | None] = field(default_factory=dict)
    """Whom the lines above values name: every value asks for ten of them."""


_PRIVACY: Final = re.compile(
    r"datenschutz|privacy|cookie|confidentialit|polityka prywatno|privacidad|integritetspolicy|"
    r"terms (?:of|and)|terms-|personvern|tietosuoja|rodo",
    re.IGNORECASE,
)


def setting_of(
    sheet: Sheet, url: str, site: str | None, firm: Iterable[str]
) -> Setting:
    """Report what kind of page the values stand on."""
    is_privacy = bool(_PRIVACY.search(url) or _PRIVACY.search(sheet.page.title or ""))
    return Setting(sheet, site, is_privacy, frozenset(firm))


OF_TEMPLATE: Final = Owner(Whose.PLACEHOLDER, None, "an address of a template")


def owner_of_email(setting: Setting, address: str, seen: Sequence[Found]) -> Owner:
    """Say whose an e-mail address is."""
    host = address.rpartition("@")[2]
    if is_template_address(address):
        return OF_TEMPLATE
    quality = judge_email(address, setting.site)
    if quality.is_same_domain:
        return OWN
    if is_listed(host, "hosts_builder") or _is_under(host, _MAKER_HOSTS):
        return Owner(Whose.THIRD_PARTY, host, "an address of a website's provider")
    if _AUTHORITY_HOST.search(host):
        return Owner(Whose.THIRD_PARTY, host, "an address of an authority or a chamber")
    if setting.is_privacy and not quality.is_free and not _is_like(host, setting):
        return Owner(
            Whose.THIRD_PARTY, host, "another firm's address in a legal statement"
        )
    return owner_of(setting, seen)


def owner_of_number(setting: Setting, seen: Sequence[FoundPhone]) -> Owner:
    """Say whose a number is."""
    if all(found.is_placeholder for found in seen):
        return Owner(Whose.PLACEHOLDER, None, "a number of a template")
    return owner_of(setting, seen)


def owner_of(setting: Setting, seen: Sequence[Found]) -> Owner:
    """Say whose a value is by what it stands under; one own sighting makes it own."""
    last = len(setting.sheet.lines)
    placed = [found for found in seen if 0 <= found.line < last]
    first: Owner | None = None
    for found in placed:
        owner = _stands_under(setting, found)
        if owner is None:
            return OWN
        first = first or owner
    return first if first and len(placed) == len(seen) else OWN


def is_of_maker(setting: Setting, seen: Sequence[FoundPerson]) -> bool:
    """Say whether somebody is named for the website or for data, and for nothing else."""
    if any(found.role for found in seen):
        return False
    return owner_of(setting, seen).why in (WHY["maker"], WHY["officer"])


def _stands_under(setting: Setting, found: Found) -> Owner | None:
    """Look from a value upwards for somebody else's name; None if there is none."""
    lines = setting.sheet.lines
    level = 7
    for number in range(found.line, max(-1, found.line - REACH), -1):
        line = lines[number]
        if line.heading and line.heading >= level:
            continue  # a section beside the one the value is in
        is_mine = number == found.line
        other = (
            _other_beside(setting.sheet, found)
            if is_mine
            else _other_in_line(setting, number)
        )
        if other is not None:
            return other
        if not is_mine and _OWN_AGAIN.match(line.text.strip()):
            return None
        level = line.heading or level
    return None


def _other_beside(sheet: Sheet, found: Found) -> Owner | None:
    """Look for somebody else in the value's own line."""
    other = _other_in(_near(sheet, found), is_close=True)
    if other is None or other.why != WHY["maker"] or not found.end:
        return other
    # "(214) 742-0134 | Website by Pixelhof": who made the site has what follows.
    before = sheet.text[sheet.starts[found.line] : found.start]
    return other if _OTHERS.search(before) else None


def _near(sheet: Sheet, found: Found) -> str:
    """Give what stands in the value's own line before it, or around it if it is short."""
    line = sheet.lines[found.line]
    at = found.start - sheet.starts[found.line] if found.end else len(line.text)
    if len(line.text) <= MAX_NAME:
        return line.text
    return line.text[max(0, at - MAX_NAME) : at]


def _other_in_line(setting: Setting, number: int) -> Owner | None:
    if number not in setting.others:
        line = setting.sheet.lines[number]
        setting.others[number] = _other_in(line.text, is_close=bool(line.heading))
    return setting.others[number]


def _other_in(text: str, *, is_close: bool) -> Owner | None:
    if len(text) > (MAX_SENTENCE if is_close else MAX_FAR):
        return None
    match = _OTHERS.search(text)
    if match is None:
        return None
    kind = match.lastgroup or "body"
    # Far above, a credit such as "Web design by Pixelhof" says nothing of what follows.
    is_label = len(text) <= MAX_LABEL or text[match.end() :].lstrip()[:1] == ":"
    if not is_close and kind != "body" and not is_label:
        return None
    return Owner(Whose.THIRD_PARTY, " ".join(text.split())[:MAX_NAME], WHY[kind])


WHY: Final = {
    "body": "stands under an authority or a chamber",
    "label": "stands under an authority, a chamber or an insurer",
    "maker": "stands under who made or hosts the website",
    "officer": "stands under an officer for data protection",
    "helper": "stands under somebody who helps in the business's stead",
}


def names_other_body(name: str) -> bool:
    """Say whether a name is that of a chamber, an authority or a professional body."""
    match = _OTHERS.search(name)
    is_body = match is not None and match.lastgroup == "body"
    return is_body or bool(_PROFESSION.search(name))


_PROFESSION: Final = re.compile(
    r"\b(?:college of|board of|society of|association of|academy of|council of|federation of|"
    r"university|universität|université|università|uniwersytet)\b",
    re.IGNORECASE,
)


def _is_like(host: str, setting: Setting) -> bool:
    """Say whether a host has the name of the business."""
    label = (registrable_domain(host) or host).partition(".")[0].replace("-", "")
    own = (registrable_domain(setting.site or "") or "").partition(".")[0]
    own = own.replace("-", "")
    is_kin = bool(own) and (label in own or own in label)
    return is_kin or any(len(word) > 4 and word in label for word in setting.firm)


def _is_under(host: str, known: frozenset[str]) -> bool:
    return host in known or (registrable_domain(host) or host) in known


def is_template_address(address: str) -> bool:
    """Tell info@votresite.fr, which stands in templates; most others are never read."""
    host = address.partition("@")[2]
    label = (registrable_domain(host) or host).partition(".")[0]
    return label in _TEMPLATE_HOSTS


_TEMPLATE_HOSTS: Final = words(
    "votredomaine votresite votreentreprise nomdedomaine ihredomain ihrefirma musterfirma "
    "mustermann musterdomain meinedomain deinedomain tuempresa nombreempresa twojadomena "
    "twojafirma jouwdomein uwdomein jouwbedrijf dittforetag dinadress dinfirma nomeattivita "
    "tuaazienda tuosito themeforest"
)
