"""Say what stands at a business's web address: its own site, or something else.

Each verdict carries the evidence a person needs to agree or to overrule it. Signs that
also occur on ordinary pages count only where a page says next to nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from contact_extraction.host_kind import HostKind, kind_of_host
from contact_extraction.html import HtmlPage
from contact_extraction.urls import Url, parse_url


class VerdictKind(StrEnum):
    """What stands at an address; the values of `domains.verdict`."""

    OWN_SITE = "own_site"
    SOCIAL_PROFILE = "social_profile"
    DIRECTORY = "directory"
    BOOKING_PAGE = "booking_page"
    LINK_PAGE = "link_page"
    PARKED = "parked"
    FOR_SALE = "for_sale"
    OTHER_BRAND = "redirect_to_other_brand"
    CANDIDATE = "candidate"
    """Another domain led here, and the page names it: whether it moved, a person decides."""
    LOGIN_WALL = "login_wall"
    CHALLENGE_WALL = "challenge_wall"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What stands at an address, how sure we are, and why."""

    kind: VerdictKind
    confidence: float
    evidence: tuple[str, ...]
    candidate: str | None = None
    """The domain it leads to, if the page there claims to be the one that was asked."""


def verdict_of_url(url: str) -> Verdict | None:
    """Judge by the address alone; None if the page has to be seen."""
    match = kind_of_host(parse_url(url).host)
    kind = _OF_HOST.get(match.kind)
    if kind is None:
        return None
    return Verdict(kind, 0.99, (f"the host is on our list as {match.entry}",))


def judge_site(
    asked: str,
    final: str,
    page: HtmlPage,
    *,
    status: int = 200,
    name: str | None = None,
) -> Verdict:
    """Judge a fetched home page; raise InvalidUrl if an address is not a URL.

    Args:
        asked: the address we were given.
        final: the address that answered, after redirects.
        page: what it answered with.
        status: the HTTP status of the answer.
        name: the name of the business, if known: it distinguishes a new name from a stranger.
    """
    at = parse_url(final)
    seen = _Seen.of(page)
    return (
        verdict_of_url(final)
        or _challenge(seen, status)
        or _parking(seen, at)
        or _login(seen, status)
        or _link_page(seen, at)
        or _other_brand(parse_url(asked), at, page, name)
        or _own_site(parse_url(asked), at, seen)
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A page at a glance: how much it says, and the beginning of it in lower case."""

    page: HtmlPage
    size: int
    text: str

    @classmethod
    def of(cls, page: HtmlPage) -> "_Seen":
        # A word may be a megabyte long, so counting words does not bound the text.
        return cls(
            page,
            page.word_count,
            f"{page.title[:500].lower()}\n{page.lower_text[:_MAX_TEXT]}",
        )

    def signs(self, signs: tuple[str, ...]) -> Iterator[str]:
        """Yield the signs that stand in the source of the page, in capitals or not."""
        source = self.page.lower_source[:_MAX_SOURCE]
        return (sign for sign in signs if sign.encode() in source)


def _challenge(seen: _Seen, status: int) -> Verdict | None:
    if seen.size > _FEW_WORDS:
        return None
    title = seen.page.title.lower()
    evidence = (
        [f"the title is {title[:60]!r}"] if _CHALLENGE_TITLE.search(title) else []
    )
    evidence += [f"it holds {sign!r}" for sign in seen.signs(_CHALLENGE_SIGNS)]
    evidence += [f"it says {said!r}" for said in _CHALLENGE_WORDS if said in seen.text]
    if not evidence:
        return None
    if status in _REFUSALS:
        evidence.append(f"the status is {status}")
    elif len(evidence) == 1 and not _CHALLENGE_TITLE.search(title):
        return None
    return Verdict(VerdictKind.CHALLENGE_WALL, 0.95, tuple(evidence))


def _parking(seen: _Seen, at: Url) -> Verdict | None:
    if seen.size > _SOME_WORDS:
        return None
    sale: list[str] = []
    parked: list[str] = []
    if any(word in seen.text for word in _PARKING_WORDS):
        sale = [f"it says {one[0][:80]!r}" for one in _FOR_SALE.finditer(seen.text)][:3]
        parked = [f"it says {one[0][:80]!r}" for one in _PARKED.finditer(seen.text)][:3]
    parked += [f"it loads {sign!r}" for sign in seen.signs(_PARKING_SIGNS)]
    parked += [f"it loads {host!r}" for host in _parking_hosts(seen.page, at)]
    if sale and (parked or seen.size < _FEW_WORDS):
        return Verdict(VerdictKind.FOR_SALE, 0.95, tuple(sale + parked))
    if parked:
        return Verdict(VerdictKind.PARKED, 0.93, tuple(parked))
    return None


def _parking_hosts(page: HtmlPage, at: Url) -> Iterator[str]:
    addresses = [script.src for script in page.scripts if script.src]
    addresses += page.frames
    for address in addresses[:_MAX_ADDRESSES]:
        found = _HOST.match(address.lower())
        host = found[1] if found else at.host
        if kind_of_host(host).kind is HostKind.PARKING:
            yield host


def _login(seen: _Seen, status: int) -> Verdict | None:
    if seen.size > _FEW_WORDS:
        return None
    evidence: list[str] = []
    fields = [kind for form in seen.page.forms for _, kind in form.fields]
    if "password" in fields:
        evidence.append("it asks for a password")
    if found := _LOGIN_WORDS.search(seen.text):
        evidence.append(f"it says {found[0]!r}")
    if status == _UNAUTHORISED:
        evidence.append("the status is 401")
    if len(evidence) > 1 or status == _UNAUTHORISED:
        return Verdict(VerdictKind.LOGIN_WALL, 0.9, tuple(evidence))
    return None


def _link_page(seen: _Seen, at: Url) -> Verdict | None:
    """See a list of links to profiles and nothing else, on whatever host."""
    if seen.size > _FEW_WORDS or not seen.page.links:
        return None
    outward = [link for link in seen.page.links if _is_listed(link.href)]
    if len(outward) >= _MANY_LINKS and len(outward) * 4 >= len(seen.page.links) * 3:
        said = f"{len(outward)} of its {len(seen.page.links)} links lead to profiles elsewhere"
        return Verdict(VerdictKind.LINK_PAGE, 0.8, (said, f"it stands on {at.host}"))
    return None


def _is_listed(href: str) -> bool:
    found = _HOST.match(href.lower())
    return found is not None and kind_of_host(found[1]).kind not in _OWN_KINDS


def stands_instead(page: HtmlPage, url: str) -> str | None:
    """Say what stands where a page of a business was: a wall, a notice, nothing; None: a page."""
    seen = _Seen.of(page)
    # Pages of walls are read as they come: most of them are sent as if all were well.
    found = _challenge(seen, _OK) or _parking(seen, parse_url(url)) or _login(seen, _OK)
    if found is not None:
        return f"{found.kind.replace('_', ' ')}: {found.evidence[0]}"
    if seen.size < _FEW_WORDS // 4 and (said := _BACK_SOON.search(seen.text)):
        return f"a notice: it says {said[0]!r}"
    return None if seen.text.strip() else "an empty page"


def leads_elsewhere(asked: str, final: str) -> bool:
    """Say whether one address leads to another site under another name."""
    return _is_elsewhere(parse_url(asked), parse_url(final))


def _is_elsewhere(asked: Url, at: Url) -> bool:
    if asked.site == at.site or kind_of_host(at.host).kind is HostKind.BUILDER:
        return False
    return not _same_name(_label(asked), _label(at))


def _other_brand(
    asked: Url, at: Url, page: HtmlPage, name: str | None
) -> Verdict | None:
    if not _is_elsewhere(asked, at):
        return None
    moved = f"{asked.site} leads to {at.site}"
    said = _names_of(page)
    known = [_label(asked), *([_plain(name)] if name else [])]
    if any(len(word) >= _TELLING_LETTERS and word in said for word in known):
        # Whoever made the page chose its words: that is a claim, and no proof.
        claim = "the page names it: whether it has moved there, a person decides"
        return Verdict(VerdictKind.OTHER_BRAND, 0.5, (moved, claim), at.site)
    return Verdict(
        VerdictKind.OTHER_BRAND,
        0.85,
        (moved, "the names differ", f"the page calls itself {page.title[:80]!r}"),
    )


def _own_site(asked: Url, at: Url, seen: _Seen) -> Verdict:
    evidence: list[str] = []
    if asked.site != at.site:
        evidence.append(f"{asked.site} leads to {at.site}, under the same name")
    if kind_of_host(at.host).kind is HostKind.BUILDER:
        evidence.append(f"its own name on the shared host of a builder: {at.host}")
    evidence.append(f"a page of {seen.size:,} words and {len(seen.page.links):,} links")
    is_thin = seen.size < _FEW_WORDS // 4
    if is_thin and (found := _UNDER_CONSTRUCTION.search(seen.text)):
        evidence.append(f"not finished yet: it says {found[0]!r}")
    return Verdict(VerdictKind.OWN_SITE, 0.6 if is_thin else 0.9, tuple(evidence))


def _label(url: Url) -> str:
    return _plain(url.site.partition(".")[0])


def _plain(text: str) -> str:
    return _NOT_LETTER.sub("", text.casefold())


def _same_name(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) >= _TELLING_LETTERS and short in long:
        return True
    return (
        SequenceMatcher(None, one[:_NAME_CHARACTERS], other[:_NAME_CHARACTERS]).ratio()
        >= _ALIKE_SHARE
    )


def _names_of(page: HtmlPage) -> str:
    names = (page.title, page.meta("og:site_name"), page.meta("description"))
    return _plain(" ".join(names)[:_MAX_NAMES])


_OF_HOST: Final = {
    HostKind.SOCIAL: VerdictKind.SOCIAL_PROFILE,
    HostKind.DIRECTORY: VerdictKind.DIRECTORY,
    HostKind.BOOKING: VerdictKind.BOOKING_PAGE,
    HostKind.LINK_PAGE: VerdictKind.LINK_PAGE,
    HostKind.PARKING: VerdictKind.FOR_SALE,
}
_OWN_KINDS: Final = frozenset((HostKind.OTHER, HostKind.BUILDER, HostKind.PARKING))
_FEW_WORDS: Final = 120
_SOME_WORDS: Final = 400
_MANY_LINKS: Final = 3
_TELLING_LETTERS: Final = 4
_NAME_CHARACTERS: Final = 64
_ALIKE_SHARE: Final = 0.8
_MAX_NAMES: Final = 1_000
_MAX_ADDRESSES: Final = 200
_MAX_SOURCE: Final = 300_000
_MAX_TEXT: Final = 6_000
_OK: Final = 200
_UNAUTHORISED: Final = 401
_REFUSALS: Final = frozenset((401, 403, 405, 429, 503))
_NOT_LETTER: Final = re.compile(r"[\W_]+")
_HOST: Final = re.compile(r"(?:https?:)?//([^/?#:@\s]{1,253})")

_CHALLENGE_TITLE: Final = re.compile(
    r"^(?:just a moment|attention required|checking your browser|please wait|one moment"
    r"|access denied|ddos-guard|security check|are you a robot|robot check"
    r"|verify(?:ing)? (?:you are|that you are) human|human verification|bot verification"
    r"|vercel security checkpoint|making sure you.re not a bot|pardon our interruption"
    r"|captcha|einen moment|un momento|un instant|bir dakika|forbidden|blocked)\b"
)
_CHALLENGE_SIGNS: Final = (
    "/cdn-cgi/challenge-platform/h/",
    "__cf_chl",
    "cf-browser-verification",
    "cf-error-details",
    "_incapsula_resource",
    "captcha-delivery.com",
    "px-captcha",
    "perimeterx",
    "sucuri_cloudproxy",
    "ddos-guard",
    "awswaf.com",
    "challenges.cloudflare.com/turnstile",
    "hcaptcha.com/1/api.js",
    "google.com/recaptcha/api.js",
    "distil_r_captcha",
    "/.well-known/sgcaptcha",
    "akamai-bm",
)
_CHALLENGE_WORDS: Final = (
    "checking if the site connection is secure",
    "checking your browser before accessing",
    "verify you are human",
    "verifying you are human",
    "please complete the security check",
    "enable javascript and cookies to continue",
    "incapsula incident id",
    "you have been blocked",
    "press & hold to confirm",
    "unusual traffic from your",
    "please stand by, while we are checking your browser",
    "you don't have permission to access",
    "bitte bestätigen sie, dass sie ein mensch sind",
    "vérifiez que vous êtes humain",
)
# One of these is in whatever the two patterns find, and looked for much faster.
_PARKING_WORDS: Final = (
    "dom", "for sale", "alan ad", "домен", "ドメイン", "parked", "suspended", "nginx",
    "apache", "iis windows", "default web", "congratulations", "it works!",
    "hier entsteht", "future home of", "sponsored listings",
)  # fmt: skip
_FOR_SALE: Final = re.compile(
    r"(?:this |the )?domain(?: name)?s? (?:\S{1,60} )?(?:is|may be|are) (?:now )?"
    r"(?:for sale|available for purchase)"
    r"|\b(?:buy|purchase|acquire|own) (?:this|the) domain|domain for sale"
    r"|make an offer on this domain|inquire about this domain|get this domain"
    r"|\S{1,60}\.[a-z]{2,10} is for sale"
    r"|domain (?:\S{1,60} )?steht zum verkauf|domain (?:\S{1,60} )?zu verkaufen"
    r"|diese domain (?:kaufen|erwerben)|domain kaufen"
    r"|domaine (?:\S{1,60} )?est (?:à|a) vendre|acheter ce (?:nom de )?domaine"
    r"|dominio (?:\S{1,60} )?(?:está|esta) en venta|comprar este dominio|dominio en venta"
    r"|dominio (?:\S{1,60} )?(?:è|e) in vendita|acquista questo dominio"
    r"|domein(?:naam)? (?:\S{1,60} )?(?:is )?te koop|koop dit domein"
    r"|domínio (?:\S{1,60} )?(?:está )?(?:à|a) venda|domena (?:\S{1,60} )?(?:jest )?na sprzedaż"
    r"|domänen (?:\S{1,60} )?är till salu|domænet (?:\S{1,60} )?er til salg"
    r"|doména (?:\S{1,60} )?je na prodej|alan ad.(?:\S{1,60} )? sat.l.kt.r"
    r"|домен (?:\S{1,60} )?продается|домен (?:\S{1,60} )?продаётся|このドメインは.{0,20}販売"
)
_PARKED: Final = re.compile(
    r"(?:this )?(?:domain|page|web ?site|site) (?:name )?(?:is|has been) (?:\w+ ){0,2}parked"
    r"|parked (?:free|domain|page)|domain parking|future home of (?:something|\S{1,60}\.\w+)"
    r"|this domain (?:is|was|has been) (?:recently )?(?:registered|expired|suspended)"
    r"|domain (?:name )?(?:has )?expired|account (?:has been )?suspended"
    r"|this account has been suspended|welcome to nginx|apache2? \S{0,20} ?default page"
    r"|test page for the apache|iis windows server|default web ?site page"
    r"|congratulations! your (?:web ?site|site) is (?:live|ready)|it works!$"
    r"|diese domain (?:ist|wurde) (?:\w+ ){0,3}(?:geparkt|registriert|reserviert)"
    r"|hier entsteht (?:eine neue|in kürze)|domain geparkt"
    r"|ce (?:nom de )?domaine (?:est|a été) (?:\w+ ){0,2}(?:réservé|enregistré|parqué)"
    r"|este dominio (?:está|esta|ha sido) (?:\w+ ){0,2}(?:aparcado|registrado|reservado)"
    r"|questo dominio (?:è|e) (?:\w+ ){0,2}(?:parcheggiato|registrato)"
    r"|dit domein is (?:\w+ ){0,2}(?:geregistreerd|geparkeerd|gereserveerd)"
    r"|domena (?:jest|została) (?:\w+ ){0,2}(?:zaparkowana|zarejestrowana)"
    r"|домен (?:\w+ ){0,2}(?:припаркован|зарегистрирован)|sponsored listings for"
)
_PARKING_SIGNS: Final = (
    "/parking-lander/",
    "parkingcrew",
    "sedoparking",
    "window.park =",
    "d38psrni17bvxu.cloudfront.net",
    "cdn.dsultra.com",
    "/px.js?ch=",
    "parking.bodiscdn",
    "domainpark",
    "data-adblockkey",
    "hugedomains.com",
    "namebright.com",
)
_LOGIN_WORDS: Final = re.compile(
    r"\b(?:log ?in|sign ?in|log on|password protected|enter (?:using )?(?:your |the )?password"
    r"|members only|authentication required|anmelden|anmeldung|passwort|kennwort"
    r"|connexion|mot de passe|iniciar sesión|contraseña|accedi|inloggen|wachtwoord"
    r"|entrar|senha|zaloguj|hasło|logga in|lösenord|log ind|přihlášení|heslo|giriş yap"
    r"|şifre|ログイン|パスワード|войти|пароль)\b"
)
_UNDER_CONSTRUCTION: Final = re.compile(
    r"under construction|coming soon|launching soon|opening soon|site en construction"
    r"|en construcción|in costruzione|im aufbau|in kürze|binnenkort|em construção|w budowie"
    r"|under uppbyggnad|ve výstavbě|yap.m aşamas.nda|工事中|準備中|в разработке"
)
_BACK_SOON: Final = re.compile(
    _UNDER_CONSTRUCTION.pattern
    + r"|\b(?:be|are) (?:right )?back (?:soon|shortly|online)|maintenance|wartung|onderhoud"
    r"|manutenzione|mantenimiento|manutenção|underhåll|vedligehold|temporarily unavailable"
    r"|vorübergehend nicht|momentan(?:ément)? (?:nicht|indisponible)|bald wieder|bientôt de retour"
)
