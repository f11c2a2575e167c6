"""Whose a value is: the business's own, or that of somebody the page only mentions.

Imprints name chambers and authorities, footers the web designer, practices those who
stand in for them, privacy statements the hoster; there are pages of partners, suppliers and
references, and templates that nobody filled in. What stands around each sighting is weighed
to one chance that the value is the business's own; a value is as much its own as the best
of its sightings, on any page of the site.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Final

from contact_extraction.contacts.chance import chance, weights_of
from contact_extraction.contacts.model import (
    OwnerKind,
    PersonSighting,
    PhoneSighting,
    Sighting,
    ValueOwner,
)
from contact_extraction.contacts.organisation.institution import is_trade_name
from contact_extraction.contacts.organisation.legal import (
    is_legal_name,
    legal_name_at_start,
)
from contact_extraction.contacts.outsider import (
    SITE_WIDE,
    heads_other_firms,
    is_filler,
    is_page_of_other_firms,
    lines_below,
    may_hold_filler,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.email_quality import is_listed, judge_email
from contact_extraction.html import words
from contact_extraction.page_type import PageType, rate_page
from contact_extraction.text import compact, fold, small, small_pattern
from contact_extraction.urls import registrable_domain

REACH_LINES: Final = 10
"""How many lines above a value may say whose it is."""
MAX_NAME: Final = 120
MAX_SENTENCE: Final = 400
MAX_FAR: Final = 80
MAX_LABEL: Final = 25
MIN_NAME: Final = 5
NAME_REACH: Final = 4
"""How many lines above a value may name the firm whose it is."""
MAX_WEIGHED: Final = 20
"""Sightings of one value that are weighed: those that follow are of the same kind."""
SURELY_OWN: Final = 0.97
MANY_FIRMS: Final = 3
NOBODY: Final[Mapping[int, str | None]] = {}
MIN_OWN: Final = 0.5
WEIGHTS: Final = "ownership_weights"
HOME_PATHS: Final = ("", "index.html", "index.htm", "index.php", "home")
_ENDS_SENTENCE: Final = (".", "!", "?", ";")
OF_OTHERS: Final = ValueOwner(OwnerKind.THIRD_PARTY)

# Bodies that supervise, settle disputes, insure or protect data.
_BODY: Final = (
    r"\w*kammer(?: \w+)?\b|kammer für|kassen(?:zahn)?ärztliche|\bkzv\w*|aufsichtsbehörde|aufsichts- und|"
    r"bezirksregierung|regierungspräsidium|landesamt|landratsamt|gesundheitsamt|finanzamt|"
    r"gewerbeamt|ordnungsamt|bezirkshauptmannschaft|(?:amts|land|oberlandes|arbeits|sozial|verwaltungs)gericht|schlichtung\w*|ombuds\w*|"
    r"verbraucherzentrale|(?:landes|bundes|hessische\w? |bayerische\w? )(?:datenschutz)?beauftragte\w*|"
    r"datenschutzbeauftragte[rn]? (?:des landes|für den datenschutz|von|des bundes)|"
    r"datenschutz(?:behörde|aufsicht)|"
    r"arbitration|dispute resolution|bar association|law society|medical (?:board|council)|"
    r"dental (?:board|council)|licensing board|state board|(?:district|superior|county|circuit|magistrates'?) court|courthouse\b(?! (?:sq|plaza|st|rd|road|lane|place))|justice cent(?:er|re)\b|clerk of (?:the )?court|"
    r"tribunal (?:de|judiciaire|administratif|d')|tribunale di|sąd (?:rejonowy|okręgowy)|(?:okresní|krajský) soud|"
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
    r"hébergeu\w*|hébergement|(?<!event )hosted (?:by|at|with)\b|(?:web)?site hosted by|web ?hosting|hosting(?=[-:]|$| by| provider)|hoster\b|web ?host\b|webdesign\w*|web ?design(?:er)?\b|"
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
    r"vertritt uns|vertreten uns|nous remplace|ci sostituisce|nos sustituye|neemt voor ons waar|"
    r"vertretung(?:en|spra\w+)?\b(?! (?:durch|berechtigt))|vertretungsarzt|urlaubsvertretung|"
    r"out[- ]of[- ]hours|giftnotruf\w*|giftinformation\w*|poison|bereitschaftsdienst\w*|bereitschaftspraxis|"
    r"ärztlicher notdienst|zahnärztlicher notdienst|apotheken?notdienst|telefonseelsorge|krisen\w+|"
    r"frauenhelpline|frauennotruf|kinderschutz\w*|safeguarding|samaritans|lifeline|crisis (?:line|text|centre|center)|"
    r"suicide|whistleblow\w*|childline|nspcc|nhs 111|emergency room|"
    r"huisartsenpost|spoeddienst|jourcentral|guardia m[ée]dica|médecin de garde|samu\b|partner ?krankenhaus|"
    r"(?:gas|water|power|electric\w*) (?:emergenc\w+|leaks?|outages?)|smell gas|störungsdienst|entstör\w+|"
    r"urgence gaz|pogotowie (?:gazowe|energetyczne)|storingsdienst|kooperationspartner|belegkrankenhaus|local authority|council's|citizens advice"
)
_OTHERS: Final = small_pattern(
    rf"(?<!\w)(?:(?P<body>{_BODY})|(?P<label>{_LABEL})|(?P<maker>{_MAKER})|"
    rf"(?P<helper>{_HELPER})|(?P<officer>{_OFFICER}))"
)
# A heading or label that begins the business's own data again.
_OWN_AGAIN: Final = small_pattern(
    r"^(?:kontakt(?:daten)?|contact(?: us| details| info\w*)?|contatti|contacto|contactez|anfahrt|"
    r"so erreichen sie uns|unsere praxis|our (?:office|practice|clinic)s?|impressum|find us|"
    r"visit us|adresse|anschrift|standort\w*|locations?|offices?|öffnungszeiten|opening hours|"
    r"sprechzeiten|call us|praxis|kanzlei|angaben gemäß .*|diensteanbieter|verantwortliche(?:r|"
    r" stelle)?|data controller|responsible (?:party|for .*)|vertreten durch)[\s:.]*$"
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


# Every value asks about the lines above it, and pages of a site share many.
@lru_cache(4_096)
def _is_own_again(text: str) -> bool:
    return _OWN_AGAIN.match(small(text)) is not None


@dataclass(frozen=True)
class PageContext:
    """What is known of the page whose values are judged."""

    sheet: PageText
    site: str | None
    is_privacy: bool
    firm: frozenset[str] = frozenset()
    """Folded words of what the page calls the business."""
    url: str = ""
    staff: Mapping[int, str | None] = field(default_factory=dict)
    """The lines that name people of the business, and their roles."""
    others: dict[int, ValueOwner | None] = field(default_factory=dict)
    """Whom the lines above values name: every value asks for ten of them."""
    is_reached_everywhere: bool = False
    """Whether the header or the footer has an address or a number."""

    @cached_property
    def is_contact_page(self) -> bool:
        """Say whether the page is the one to reach the business by, or its home page."""
        return self._path in HOME_PATHS or _CONTACT.search(self._path) is not None

    @cached_property
    def says_where_it_is(self) -> bool:
        """Say whether the page is about the business and its people, or how to reach it."""
        return _says_where_it_is(self.url)

    @cached_property
    def own_words(self) -> frozenset[str]:
        """Give the words of the business's name, as far as the title agrees with it.

        On a page of suppliers the first firm is easily taken for the business.
        """
        title = fold(self.sheet.page.title or "")
        names = [fold(firm) for firm in self.firm]
        words = {word for name in names for word in name.split()}
        return frozenset(word for word in words if len(word) > 3 and word in title)

    @cached_property
    def is_others_page(self) -> bool:
        """Say whether the page's address promises partners, suppliers or references."""
        return is_page_of_other_firms(self._path)

    @cached_property
    def _path(self) -> str:
        path = self.url.partition("//")[2].partition("/")[2]
        return path.partition("?")[0].strip("/")

    @cached_property
    def below_others(self) -> frozenset[int]:
        """Give the lines below a heading about others, up to the next one of its rank."""
        lines = self.sheet.lines
        # "Partner" below a lawyer's name heads what reaches that lawyer.
        roles = {
            line.text
            for above, line in enumerate(lines[1:])
            if line.heading and self.staff.get(above) == line.text
        }
        return lines_below(
            lines,
            lambda heading: heading not in roles and heads_other_firms(heading),
            _is_own_again,
        )

    @cached_property
    def fillers(self) -> frozenset[int]:
        """Give the lines within two of the filler text of a template."""
        if not may_hold_filler(self.sheet.lower):
            return frozenset()
        return frozenset(
            near
            for number, line in enumerate(self.sheet.lines)
            if len(line.text) > MAX_LABEL and is_filler(line.text)
            for near in range(number - 2, number + 3)
        )

    @cached_property
    def firms(self) -> frozenset[int]:
        """Give the short lines that are the name of a firm, the business's own too."""
        return frozenset(
            number
            for number, line in enumerate(self.sheet.lines)
            if MIN_NAME <= len(line.text) <= MAX_FAR
            and not line.text.endswith(_ENDS_SENTENCE)
            and is_legal_name(line.text.rstrip(" ,:"))
        )

    @cached_property
    def firm_starts(self) -> dict[int, str]:
        """Give the firms that lines begin with: `Acme Ltd, Tel 01584 872100`."""
        return {
            number: name
            for number, line in enumerate(self.sheet.lines)
            if len(line.text) <= MAX_NAME and number not in self.firms
            if (name := legal_name_at_start(line.text)) is not None
        }

    @cached_property
    def other_firms(self) -> int:
        """Count the firms of the page that are not the business."""
        lines = self.sheet.lines
        names = {lines[number].text.casefold() for number in self.firms}
        return sum(not is_ours(name, self) for name in names)


WHERE_IT_IS: Final = (PageType.CONTACT_ROOT, PageType.ABOUT_ROOT, PageType.TEAM_ROOT)


@lru_cache(1_024)
def _says_where_it_is(url: str) -> bool:
    return rate_page(url).type in WHERE_IT_IS


_PRIVACY: Final = re.compile(
    r"datenschutz|privacy|cookie|confidentialit|polityka prywatno|privacidad|integritetspolicy|"
    r"terms (?:of|and)|terms-|personvern|tietosuoja|rodo",
    re.IGNORECASE,
)


_CONTACT: Final = re.compile(
    r"contact|kontakt|contatt|contato|impressum|imprint|mentions|yhteys|elerhetoseg|find-us|visit",
    re.IGNORECASE,
)


def setting_of(
    sheet: PageText,
    url: str,
    site: str | None,
    firm: Iterable[str],
    staff: Mapping[int, str | None] = NOBODY,
    *,
    reached: Iterable[int] = (),
) -> PageContext:
    """Report what kind of page the values stand on."""
    is_privacy = bool(_PRIVACY.search(url) or _PRIVACY.search(sheet.page.title or ""))
    last = len(sheet.lines)
    everywhere = any(
        sheet.lines[line].region in SITE_WIDE for line in reached if 0 <= line < last
    )
    return PageContext(
        sheet,
        site,
        is_privacy,
        frozenset(firm),
        url,
        staff,
        is_reached_everywhere=everywhere,
    )


OF_TEMPLATE: Final = ValueOwner(OwnerKind.PLACEHOLDER, None, "an address of a template")


def owner_of_email(
    setting: PageContext, address: str, seen: Sequence[Sighting]
) -> ValueOwner:
    """Say whose an e-mail address is."""
    host = address.rpartition("@")[2]
    if is_template_address(address):
        return OF_TEMPLATE
    quality = judge_email(address, setting.site)
    if quality.is_same_domain:
        return ValueOwner(OwnerKind.OWN, likelihood=0.99)
    if is_listed(host, "hosts_builder") or _is_under(host, _MAKER_HOSTS):
        return ValueOwner(
            OwnerKind.THIRD_PARTY, host, "an address of a website's provider"
        )
    if _AUTHORITY_HOST.search(host):
        return ValueOwner(
            OwnerKind.THIRD_PARTY, host, "an address of an authority or a chamber"
        )
    if setting.is_privacy and not quality.is_free and not _is_like(host, setting):
        return ValueOwner(
            OwnerKind.THIRD_PARTY, host, "another firm's address in a legal statement"
        )
    return owner_of(setting, seen, partial(_signs_of_reach, setting))


def owner_of_number(setting: PageContext, seen: Sequence[PhoneSighting]) -> ValueOwner:
    """Say whose a number is."""
    if all(found.is_placeholder for found in seen):
        return ValueOwner(OwnerKind.PLACEHOLDER, None, "a number of a template")
    return owner_of(setting, seen, partial(_signs_of_reach, setting))


def _signs_of_reach(
    setting: PageContext, found: Sighting, traits: Mapping[str, float]
) -> dict[str, float]:
    """Give what speaks against a number where every page has another one of the business."""
    if not setting.is_reached_everywhere or not _PLACED.isdisjoint(traits):
        return {}
    if setting.says_where_it_is:
        return {}
    before = _before_value(setting, found)
    match = _NAMED_BEFORE.search(before)
    is_other = match is not None and _names_other(match[1], setting)
    return {"apart": 1.0, **({"named_other": 1.0} if is_other else {})}


def _names_other(name: str, setting: PageContext) -> bool:
    """Say whether two words or more name somebody who is neither the firm nor a part of it.

    One word alone may be the town of a branch.
    """
    parts = name.casefold().split()
    return (
        len(parts) > 1 and _OWN_PARTS.isdisjoint(parts) and not is_ours(name, setting)
    )


_OWN_PARTS: Final = words(
    "customer client patient support service services sales team hotline department dept desk care clinic practice "
    "surgery studio shop store office branch school reception appointments bookings reservations enquiries inquiries "
    "head direct toll free manager director accounts billing workshop showroom warehouse kundenservice verkauf "
    "service-hotline büro praxis kanzlei filiale zentrale empfang secrétariat accueil agence cabinet ufficio "
    "segreteria studio negozio oficina tienda consulta kantoor winkel praktijk biuro sklep kancelář ordinace "
    "kontor butik butikk myymälä toimisto"
)
_PLACED: Final = frozenset(("site_wide", "contact_page", "staff_beside", "firm_beside"))
_CAPITAL: Final = r"[A-ZÀ-Þ][\w&'’.-]*"
# "call Northern Powergrid on 0800 ...", "Aviva 0800 ...": somebody has a name before it.
_NAMED_BEFORE: Final = re.compile(
    rf"(?:^|[^\w.])(?!(?i:tel|ph|fax|mob|cell|call|e-?mail|office|contact|kontakt|telefon|whatsapp|sms|text|our|the|us|line|"
    rf"reception|main|number|new|please|for|to|or|and)\w*\b)({_CAPITAL}(?:\s(?:of|the|and|&|for|de|des|der|{_CAPITAL})){{0,5}})"
    r"[,:]?\s?(?:\(|(?:on|at|under|unter|via|au|på|op|al|pod|na)\s)?(?:(?i:tel\w*|ph\w*|fax|mob\w*|e-?mail)[.:]*\s?)?$"
)


def _before_value(setting: PageContext, found: Sighting) -> str:
    if not found.end:
        return ""
    start = setting.sheet.starts[found.line]
    return setting.sheet.text[max(start, found.start - MAX_FAR) : found.start]


SignsOf = Callable[[Sighting, Mapping[str, float]], Mapping[str, float]]
"""What else speaks for a sighting or against it: traits of one kind of value."""


def owner_of(
    setting: PageContext, seen: Sequence[Sighting], signs_of: SignsOf | None = None
) -> ValueOwner:
    """Say whose a value is by what it stands under; one own sighting makes it own."""
    likely, owner = 0.0, OF_OTHERS
    for found in seen[:MAX_WEIGHED]:
        chance_of_one, other = _weigh(setting, found, signs_of)
        if chance_of_one > likely:
            likely, owner = chance_of_one, other
        if likely >= SURELY_OWN:
            break
    if likely >= MIN_OWN:
        return ValueOwner(OwnerKind.OWN, likelihood=round(likely, 3))
    return owner


def _weigh(
    setting: PageContext, found: Sighting, signs_of: SignsOf | None
) -> tuple[float, ValueOwner]:
    """Give the chance that a sighting is the business's own, and whose it is otherwise."""
    if not 0 <= found.line < len(setting.sheet.lines):
        return chance(WEIGHTS, {"stated": 1.0}), OF_OTHERS
    other = _stands_under(setting, found)
    traits = _traits(setting, found, is_under_other=other is not None)
    if signs_of is not None:
        traits |= signs_of(found, traits)
    likely = chance(WEIGHTS, traits)
    if likely >= MIN_OWN:
        return likely, OF_OTHERS
    if other is None:
        worst = min(traits, key=lambda name: weights_of(WEIGHTS).get(name, 0.0))
        kind = OwnerKind.PLACEHOLDER if worst == "filler" else OwnerKind.THIRD_PARTY
        other = ValueOwner(kind, _firm_above(setting, found), WHY.get(worst))
    return likely, replace(other, likelihood=round(1.0 - likely, 3))


def _traits(
    setting: PageContext, found: Sighting, *, is_under_other: bool
) -> dict[str, float]:
    lines = setting.sheet.lines
    line = lines[found.line]
    is_below = found.line in setting.below_others
    firm = _firm_above(setting, found)
    is_own_firm = firm is not None and is_ours(firm, setting)
    is_other = firm is not None and not is_own_firm
    traits = {
        "under_other": is_under_other,
        "site_wide": line.region in SITE_WIDE,
        "contact_page": setting.is_contact_page and not is_below,
        "others_page": setting.is_others_page,
        "others_head": is_below,
        # Who stands in the last lines of a page is not beside what its footer says, and
        # who stands above a heading about others is none of them.
        "staff_beside": any(
            number in setting.staff
            and lines[number].region == line.region
            and (not is_below or number in setting.below_others)
            for number in range(max(0, found.line - NAME_REACH), found.line + 1)
        ),
        "institution": firm is None and _is_of_institution(setting, found.line),
        "filler": found.line in setting.fillers,
        "firm_beside": is_own_firm,
        "other_firm": is_other,
        "many_firms": is_other and setting.other_firms >= MANY_FIRMS,
    }
    return {name: 1.0 for name, value in traits.items() if value}


def _firm_above(setting: PageContext, found: Sighting) -> str | None:
    """Give the firm that is named in the value's line before it, or just above it."""
    lines = setting.sheet.lines
    if found.line in setting.firm_starts:
        return setting.firm_starts[found.line]
    region = lines[found.line].region
    for number in range(found.line - 1, max(-1, found.line - NAME_REACH - 1), -1):
        if lines[number].region != region:
            return None
        if number in setting.firms:
            return lines[number].text[:MAX_NAME]
        if _is_own_again(lines[number].text.strip()):
            return None
    return None


def _is_of_institution(setting: PageContext, line: int) -> bool:
    """Say whether the line before a value, or its own, names a hospital, court or school."""
    for number in (line, line - 1):
        text = setting.sheet.lines[number].text if number >= 0 else ""
        name = text[:MAX_FAR].partition(":")[0].strip(" ,.-–")
        if is_trade_name(name) and _INSTITUTION.search(name):
            return not is_ours(name, setting)
    return False


_INSTITUTION: Final = re.compile(
    r"\b(?:hospital|court(?:house)?|university|college|school|church|police|sheriff|library|department|authority|"
    r"council|county|water|electric|gas|power|energy|utilit\w+|apartments|medical center)\b",
    re.IGNORECASE,
)


def is_ours(name: str, setting: PageContext) -> bool:
    """Say whether a firm is the business: a word of its name or domain is in it."""
    written = compact(name)
    label = compact((registrable_domain(setting.site or "") or "").partition(".")[0])
    if label and (label in written or written in label):
        return True
    return any(word in setting.own_words for word in fold(name).split())


def is_of_maker(setting: PageContext, seen: Sequence[PersonSighting]) -> bool:
    """Say whether somebody is named for the website, for data or an authority alone."""
    if any(found.role for found in seen):
        return False
    last = len(setting.sheet.lines)
    above = (
        _stands_under(setting, found)
        for found in seen[:MAX_WEIGHED]
        if 0 <= found.line < last
    )
    # Who is named in a legal statement below an authority works there.
    makes = (*_MAKES, WHY["body"], WHY["label"]) if setting.is_privacy else _MAKES
    if not any(other is not None and other.why in makes for other in above):
        return False
    return owner_of(setting, seen).why in makes


def _stands_under(setting: PageContext, found: Sighting) -> ValueOwner | None:
    """Look from a value upwards for somebody else's name; None if there is none."""
    lines = setting.sheet.lines
    level = 7
    region = lines[found.line].region
    for number in range(found.line, max(-1, found.line - REACH_LINES), -1):
        line = lines[number]
        if line.heading and line.heading >= level:
            continue  # a section beside the one the value is in
        if line.region != region and region in SITE_WIDE:
            return None  # the end of a page is not the heading of its footer
        is_mine = number == found.line
        other = (
            _other_beside(setting.sheet, found)
            if is_mine
            else _other_in_line(setting, number)
        )
        if other is not None:
            return other
        if not is_mine and _is_own_again(line.text.strip()):
            return None
        level = line.heading or level
    return None


def _other_beside(sheet: PageText, found: Sighting) -> ValueOwner | None:
    """Look for somebody else in the value's own line."""
    other = _other_in(_near(sheet, found), is_close=True)
    if other is None or other.why != WHY["maker"] or not found.end:
        return other
    # "(214) 742-0134 | Website by Pixelhof": who made the site has what follows.
    before = sheet.text[sheet.starts[found.line] : found.start]
    return other if _OTHERS.search(small(before)) else None


def _near(sheet: PageText, found: Sighting) -> str:
    """Give what stands in the value's own line before it, or around it if it is short."""
    line = sheet.lines[found.line]
    at = found.start - sheet.starts[found.line] if found.end else len(line.text)
    if len(line.text) <= MAX_NAME:
        return line.text
    return line.text[max(0, at - MAX_NAME) : at]


def _other_in_line(setting: PageContext, number: int) -> ValueOwner | None:
    if number not in setting.others:
        line = setting.sheet.lines[number]
        setting.others[number] = _other_in(line.text, is_close=bool(line.heading))
    return setting.others[number]


def _other_in(text: str, *, is_close: bool) -> ValueOwner | None:
    if len(text) > (MAX_SENTENCE if is_close else MAX_FAR):
        return None
    return _other_named(text, is_close=is_close)


# Every page of a site has the lines of its header and footer.
@lru_cache(4_096)
def _other_named(text: str, *, is_close: bool) -> ValueOwner | None:
    match = _OTHERS.search(small(text))
    if match is None:
        return None
    kind = match.lastgroup or "body"
    # Far above, a credit such as "Web design by Pixelhof" says nothing of what follows.
    is_label = len(text) <= MAX_LABEL or text[match.end() :].lstrip()[:1] == ":"
    if not is_close and kind != "body" and not is_label:
        return None
    return ValueOwner(
        OwnerKind.THIRD_PARTY, " ".join(text.split())[:MAX_NAME], WHY[kind]
    )


WHY: Final = {
    "body": "stands under an authority or a chamber",
    "label": "stands under an authority, a chamber or an insurer",
    "maker": "stands under who made or hosts the website",
    "officer": "stands under an officer for data protection",
    "helper": "stands under somebody who helps in the business's stead",
    "other_firm": "stands under the name of another firm",
    "many_firms": "one of a list of firms",
    "others_head": "stands under a heading about partners, suppliers or references",
    "others_page": "on a page about partners, suppliers or references",
    "institution": "stands under the name of an institution",
    "filler": "stands in the text of a template",
    "alone": "nothing of the business stands beside it",
    "apart": "every page of the business has another one",
    "named_other": "stands behind the name of somebody else",
    "in_prose": "named in a sentence, nothing of the business beside it",
    "legal_text": "named in a legal statement, nothing of the business beside it",
    "on_article": "on a page about an event, an article or a work done for others",
}


_MAKES: Final = (WHY["maker"], WHY["officer"])


def names_other_body(name: str) -> bool:
    """Say whether a name is that of a chamber, an authority or a professional body."""
    match = _OTHERS.search(small(name))
    is_body = match is not None and match.lastgroup == "body"
    return is_body or bool(_PROFESSION.search(name))


_PROFESSION: Final = re.compile(
    r"\b(?:college of|board of|society of|association of|academy of|council of|federation of|"
    r"university|universität|université|università|uniwersytet)\b",
    re.IGNORECASE,
)


def _is_like(host: str, setting: PageContext) -> bool:
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
