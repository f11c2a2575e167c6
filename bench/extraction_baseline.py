"""What one would write without us: parsel for the page, phonenumbers for the numbers.

It gives title, description, links with their text, the visible text, JSON-LD, e-mail
addresses (mail links, text, Cloudflare, `[at]`), telephone numbers in E.164 with fax
distinguished, and social profiles. It knows no people, organisations, addresses or hours.
"""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import parsel
import phonenumbers

EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]+\.[A-Za-z]{2,24}")
OBFUSCATED = re.compile(
    r"([\w.+-]{1,64})\s*[\[({]\s*(?:at|ät|arroba)\s*[\])}]\s*([\w-]+(?:(?:\.|\s*[\[({]\s*(?:dot|punkt)\s*[\])}]\s*)[\w-]+)+)",
    re.IGNORECASE,
)
DOT = re.compile(r"\s*[\[({]\s*(?:dot|punkt)\s*[\])}]\s*", re.IGNORECASE)
SOCIAL = re.compile(
    r"https?://(?:www\.)?(?:facebook|instagram|twitter|x|linkedin|youtube|tiktok|pinterest)\.com/",
    re.IGNORECASE,
)
SHARED = re.compile(r"sharer|share|intent|/watch|/p/|dialog|plugins", re.IGNORECASE)
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".js", ".css")
HIDDEN = "ancestor-or-self::*[contains(translate(@style, ' ', ''), 'display:none') or @hidden]"
SILENT = "ancestor::script or ancestor::style or ancestor::noscript"
VISIBLE = f"//body//text()[not({SILENT}) and not({HIDDEN})]"


@dataclass
class Found:
    title: str = ""
    description: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""
    json_ld: list[object] = field(default_factory=list)
    emails: set[str] = field(default_factory=set)
    phones: dict[str, bool] = field(default_factory=dict)
    profiles: set[str] = field(default_factory=set)


def extract(html: str, regions: tuple[str, ...] = ("US", "GB")) -> Found:
    page = parsel.Selector(html)
    found = Found(
        title=page.xpath("string(//title)").get("").strip(),
        description=page.xpath("//meta[@name='description']/@content").get(""),
        links=[
            (link.attrib["href"], " ".join(link.xpath(".//text()").getall()).strip())
            for link in page.xpath("//a[@href]")
        ],
        text="\n".join(
            part.strip() for part in page.xpath(VISIBLE).getall() if part.strip()
        ),
    )
    for block in page.xpath("//script[@type='application/ld+json']/text()").getall():
        try:
            found.json_ld.append(json.loads(block))
        except ValueError:
            continue
    _emails(page, found)
    _phones(found, regions)
    found.profiles = {
        href
        for href, _ in found.links
        if SOCIAL.match(href) and not SHARED.search(href)
    }
    return found


def _emails(page: parsel.Selector, found: Found) -> None:
    for href, _ in found.links:
        if href.lower().startswith("mailto:"):
            found.emails.update(EMAIL.findall(unquote(href[7:]).partition("?")[0]))
    found.emails.update(EMAIL.findall(found.text))
    for match in OBFUSCATED.finditer(found.text):
        found.emails.add(f"{match[1]}@{DOT.sub('.', match[2])}")
    for code in page.xpath("//@data-cfemail").getall():
        data = bytes.fromhex(code)
        found.emails.add(bytes(byte ^ data[0] for byte in data[1:]).decode())
    found.emails = {e.lower() for e in found.emails if not e.lower().endswith(ENDINGS)}


def _phones(found: Found, regions: tuple[str, ...]) -> None:
    for href, _ in found.links:
        if urlsplit(href).scheme == "tel":
            _add_phone(found, unquote(href[4:]), regions[0], is_fax=False)
    for thing in found.json_ld:
        if isinstance(thing, dict) and isinstance(thing.get("telephone"), str):
            _add_phone(found, thing["telephone"], regions[0], is_fax=False)
    for region in regions:
        for match in phonenumbers.PhoneNumberMatcher(found.text, region):
            label = found.text[max(0, match.start - 12) : match.start].lower()
            e164 = phonenumbers.format_number(
                match.number, phonenumbers.PhoneNumberFormat.E164
            )
            found.phones.setdefault(e164, "fax" in label)


def _add_phone(found: Found, written: str, region: str, *, is_fax: bool) -> None:
    try:
        number = phonenumbers.parse(written, region)
    except phonenumbers.NumberParseException:
        return
    if phonenumbers.is_valid_number(number):
        e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        found.phones.setdefault(e164, is_fax)
