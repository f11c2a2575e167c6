"""Distinguish profiles on social networks from share buttons, posts and the networks' own pages."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from contact_extraction.contacts.model import Method, ProfileSighting
from contact_extraction.html import HtmlLink, HtmlPage, words
from contact_extraction.text import small, small_pattern

MAX_FOUND: Final = 100


@dataclass(frozen=True, slots=True)
class Profile:
    """One account: `handle` as the network writes it, `url` in its usual form."""

    network: str
    handle: str
    url: str


def find_profiles(page: HtmlPage) -> list[ProfileSighting]:
    """Find the profiles a page links to, or shows in a frame of the network's own."""
    found = []
    for link in page.links:
        profile = read_profile(link.href) or _own_server(link)
        if profile is not None:
            label = link.text or link.title or profile.network
            snippet = f"{label[:80]} <{link.href[:110]}>"
            found.append(_found(profile, Method.LINK, snippet, link.line))
        if len(found) >= MAX_FOUND:
            return found
    for address in (*page.widgets, *_framed(page)):
        profile = read_profile(address)
        if profile is not None:
            found.append(_found(profile, Method.ATTRIBUTE, address))
    return found[:MAX_FOUND]


def _found(
    profile: Profile, method: Method, snippet: str, line: int = -1
) -> ProfileSighting:
    return ProfileSighting(
        # One name may be a person's and a group's: the address distinguishes them.
        key=profile.url.casefold(),
        value=profile.url,
        method=method,
        line=line,
        snippet=snippet[:200],
        network=profile.network,
        handle=profile.handle,
    )


def _own_server(link: HtmlLink) -> Profile | None:
    """Read a Mastodon account on any server: the link says that it is the page's own."""
    if "me" not in link.rel.split():
        return None
    match = _ACCOUNT.fullmatch(link.href.strip()[:200])
    return (
        Profile("mastodon", match[2], f"https://{match[1]}/@{match[2]}")
        if match
        else None
    )


_ACCOUNT: Final = re.compile(r"https://([\w-]+(?:\.[\w-]+){1,3})/@(\w{1,64})/?")


def _framed(page: HtmlPage) -> Iterator[str]:
    """Give the pages that frames of Facebook show."""
    for source in page.frames[:MAX_FOUND]:
        if "facebook.com/plugins/page.php" in source[:80]:
            yield from parse_qs(source.partition("?")[2][:2000]).get("href", [])


def read_profile(href: str) -> Profile | None:
    """Read a link as a profile; None for anything else, shares and intents included."""
    if len(href) > MAX_HREF:
        return None
    return _known_profile(href) if len(href) <= MAX_KNOWN else _profile_of(href)


MAX_HREF: Final = 2_000
MAX_KNOWN: Final = 300


def _profile_of(href: str) -> Profile | None:
    if not _HINT.search(_host_at(href)):
        return None
    try:
        parts = urlsplit(
            href.strip() if "//" in href[:9] else f"https://{href.strip()}"
        )
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    read = _reader_of(host)
    if read is None:
        return None
    network, reader, home = read
    segments = [unquote(s).strip() for s in parts.path.split("/") if s.strip()]
    path = reader(segments, parts.query)
    if not path:
        return None
    handle = path.rpartition("/")[2].removeprefix("@")
    if not _HANDLE.fullmatch(handle) or handle.casefold() in _PLACEHOLDERS:
        return None
    return Profile(network, handle, f"https://{home}/{path}")


# Every page of a site has the links of its menu.
_known_profile: Final = lru_cache(4_096)(_profile_of)
# Most links of a page are its own; this spares them the parsing of an address.
_HINT: Final = small_pattern(
    r"facebook|fb\.|instagram|twitter|//(?:www\.)?x\.com|linkedin|youtube|tiktok|threads|"
    r"pinterest|xing|github|vimeo|wa\.me|whatsapp|t\.me|telegram|snapchat|reddit|flickr|medium|"
    r"soundcloud|twitch|behance|dribbble|yelp|houzz|vk\.com|bsky|mastodon|mstdn|mas\.to|fosstodon|hachyderm|line\.me|weibo|myspace|^x\.com"
)


def _host_at(href: str) -> str:
    """Give the beginning of a link up to the end of its host, in small letters."""
    start, slashes, rest = href[:MAX_HOST].partition("//")
    return small(f"{start}{slashes}{rest.partition('/')[0]}")


MAX_HOST: Final = 300
_HANDLE: Final = re.compile(r"[\w.+\-=%&'’~@]{1,120}")
_PLACEHOLDERS: Final = words(
    "username yourusername your_username yourname your-page yourpage your-company "
    "yourcompany yourprofile your-profile profile user example wix wordpress squarespace "
    "wixcom weebly shopify webflow godaddy jimdo elegantthemes envato themeforest page "
    "# undefined null none home index.html index.php"
)
_Reader = Callable[[list[str], str], str | None]


def _first(reserved: str) -> _Reader:
    """Read `/name`; refuse words the network keeps for itself, and deeper paths."""
    refused = words(reserved)

    def read(segments: list[str], _query: str) -> str | None:
        if not segments or len(segments) > 2:
            return None
        name = segments[0].removeprefix("@")
        if name.casefold() in refused or name.casefold().endswith((".php", ".html")):
            return None
        if len(segments) == 2 and segments[1].casefold() not in _TABS:
            return None
        return name

    return read


_TABS: Final = words(
    "about posts photos videos info reviews timeline community home featured channels "
    "reels tagged boards pins likes media followers following services shop events _saved "
    "_created app_ playlists streams shorts discussion albums sets projects appreciated "
    "drafts moodboards with_replies highlights live store podcasts releases tracks "
    "repositories stars popular-tracks schedule menu jobs mentions offers feed"
)


def _exactly_under(*folders: str) -> _Reader:
    """Read `/folder/name`; what lies deeper is a post."""

    def read(segments: list[str], query: str) -> str | None:
        return _under(*folders)(segments, query) if len(segments) == 2 else None

    return read


def _under(*folders: str) -> _Reader:
    """Read `/folder/name` for these folders only."""

    def read(segments: list[str], _query: str) -> str | None:
        if len(segments) >= 2 and segments[0].casefold() in folders:
            return f"{segments[0].casefold()}/{segments[1]}"
        return None

    return read


_FACEBOOK_FIRST: Final = _first(
    "sharer sharer.php share share.php plugins dialog tr login login.php policies policy "
    "help events hashtag photo photo.php photos watch privacy legal l.php 2008 business "
    "about terms terms.php home home.php reg recover settings marketplace gaming ads "
    "v2.0 connect campaign story.php permalink.php media notes docs careers directory "
    "badges like.php developers apps games search pg people groups pages profile.php "
    "facebook sharer sharer.php? reel reels stories messages ajax fblogin"
)


def _facebook(segments: list[str], query: str) -> str | None:
    if segments and segments[0] == "#!":
        segments = segments[1:]
    if not segments:
        return None
    head = segments[0].casefold()
    if head == "profile.php":
        number = parse_qs(query).get("id", [""])[0]
        return number if number.isdigit() else None
    if head in ("pages", "people", "p") and len(segments) >= 2:
        deep = segments[1].casefold() == "category"
        return "/".join([head, *segments[1 : 4 if deep else 3]])
    if head in ("groups", "pg") and len(segments) >= 2:
        return f"groups/{segments[1]}" if head == "groups" else segments[1]
    return _FACEBOOK_FIRST(segments, query)


_YOUTUBE_FIRST: Final = _first(
    "watch embed playlist results shorts share live feed account about t v e premium gaming "
    "channel user c creators ads upload hashtag movies redirect signin iframe_api player_api "
    "subscription_center attribution_link youtube channels trending clip howyoutubeworks"
)


def _youtube(segments: list[str], query: str) -> str | None:
    if segments and segments[0].startswith("@") and len(segments[0]) > 1:
        return segments[0]
    if segments and segments[0].casefold() in ("channel", "user", "c"):
        return f"{segments[0].casefold()}/{segments[1]}" if len(segments) > 1 else None
    return _YOUTUBE_FIRST(segments, query)


_TWITTER: Final = _first(
    "share intent home search hashtag i login signup privacy tos about widgets explore "
    "settings download jobs messages notifications statuses twitter oauth account logout "
    "personalization rules help who_to_follow x compose status widgets.js en goodies javascripts"
)


def _twitter(segments: list[str], query: str) -> str | None:
    if segments and segments[0] == "#!":
        segments = segments[1:]
    return _TWITTER(segments, query)


def _at(segments: list[str], _query: str) -> str | None:
    """Read `/@name` only."""
    if (
        segments
        and segments[0].startswith("@")
        and len(segments[0]) > 1
        and len(segments) == 1
    ):
        return segments[0]
    return None


def _whatsapp(segments: list[str], query: str) -> str | None:
    if segments and segments[0].isdigit():
        return segments[0]
    phone = parse_qs(query).get("phone", [""])[0].strip("+ ")
    return phone if phone.isdigit() and len(phone) > 6 else None


def _telegram(segments: list[str], _query: str) -> str | None:
    if len(segments) == 1 and segments[0].casefold() not in (
        "share",
        "joinchat",
        "iv",
        "addstickers",
    ):
        return segments[0].split("?")[0]
    return None


_VIMEO: Final = _first(
    "watch upgrade features join log_in search channels groups categories album ondemand "
    "blog help about terms privacy album showcase stock"
)


def _vimeo(segments: list[str], query: str) -> str | None:
    # A number is a film, user123 an account.
    return None if segments and segments[0].isdigit() else _VIMEO(segments, query)


_VK: Final = _first("share share.php away.php wall feed login about js")
_VK_POST: Final = re.compile(
    r"(?:wall|photo|video|album|topic|market|doc)-?\d+(?:_\d+)?"
)


def _vk(segments: list[str], query: str) -> str | None:
    if segments and _VK_POST.match(segments[0].casefold()):
        return None
    return _VK(segments, query)


def _houzz(segments: list[str], _query: str) -> str | None:
    """Read `/pro/name`, `/pro/account/name` and `/professionals/trade/name`."""
    head = segments[0].casefold() if segments else ""
    if len(segments) in {"pro": (2, 3), "professionals": (3,)}.get(head, ()):
        return "/".join([head, *segments[1:]])
    return None


def _line(segments: list[str], _query: str) -> str | None:
    low = [segment.casefold() for segment in segments[:3]]
    if len(segments) == 4 and low == ["r", "ti", "p"]:
        return f"r/ti/p/{segments[3]}"
    return None


_INSTAGRAM: Final = _first(
    "p reel reels explore accounts stories tv share about legal developer directory web "
    "oauth emails privacy terms instagram help download static session invites"
)


def _instagram(segments: list[str], query: str) -> str | None:
    # Links made for telephones have the name below "_u".
    below = segments[1:] if segments and segments[0] == "_u" else segments
    return _INSTAGRAM(below, query)


def _snapchat(segments: list[str], query: str) -> str | None:
    return _at(segments, query) or _under("add")(segments, query)


_NETWORKS: Final[dict[str, tuple[str, _Reader, str]]] = {
    "facebook.com": ("facebook", _facebook, "www.facebook.com"),
    "fb.com": ("facebook", _facebook, "www.facebook.com"),
    "fb.me": ("facebook", _facebook, "www.facebook.com"),
    "instagram.com": ("instagram", _instagram, "www.instagram.com"),
    "twitter.com": ("x", _twitter, "x.com"),
    "x.com": ("x", _twitter, "x.com"),
    "linkedin.com": ("linkedin", _under("company", "in", "school", "showcase", "pub", "organization"), "www.linkedin.com"),
    "youtube.com": ("youtube", _youtube, "www.youtube.com"),
    "tiktok.com": ("tiktok", _at, "www.tiktok.com"),
    "threads.net": ("threads", _at, "www.threads.net"),
    "threads.com": ("threads", _at, "www.threads.net"),
    "pinterest.com": ("pinterest", _first("pin search login about business ideas categories topics today explore settings password _ resource oauth pinterest source js"), "www.pinterest.com"),
    "xing.com": ("xing", _under("companies", "profile", "pages", "company"), "www.xing.com"),
    "github.com": ("github", _first("login join features pricing about topics explore marketplace sponsors orgs settings search site contact security readme enterprise collections trending events customer-stories"), "github.com"),
    "vimeo.com": ("vimeo", _vimeo, "vimeo.com"),
    "wa.me": ("whatsapp", _whatsapp, "wa.me"),
    "api.whatsapp.com": ("whatsapp", _whatsapp, "wa.me"),
    "whatsapp.com": ("whatsapp", _whatsapp, "wa.me"),
    "t.me": ("telegram", _telegram, "t.me"),
    "telegram.me": ("telegram", _telegram, "t.me"),
    "snapchat.com": ("snapchat", _snapchat, "www.snapchat.com"),
    "reddit.com": ("reddit", _exactly_under("r", "user", "u"), "www.reddit.com"),
    "flickr.com": ("flickr", _under("photos", "people", "groups"), "www.flickr.com"),
    "medium.com": ("medium", _at, "medium.com"),
    "soundcloud.com": ("soundcloud", _first("discover stream upload you search charts pages terms-of-use jobs mobile login"), "soundcloud.com"),
    "twitch.tv": ("twitch", _first("directory login videos p jobs turbo search downloads store settings"), "www.twitch.tv"),
    "behance.net": ("behance", _first("search gallery galleries joblist about misc blog live hire assets"), "www.behance.net"),
    "dribbble.com": ("dribbble", _first("shots jobs designers session signup tags search about"), "dribbble.com"),
    "yelp.com": ("yelp", _under("biz"), "www.yelp.com"),
    "houzz.com": ("houzz", _houzz, "www.houzz.com"),
    "vk.com": ("vk", _vk, "vk.com"),
    "bsky.app": ("bluesky", _under("profile"), "bsky.app"),
    **{
        server: ("mastodon", _at, server)
        for server in (
            "mastodon.social", "mastodon.online", "mastodon.world", "mstdn.social", "mas.to",
            "fosstodon.org", "hachyderm.io",
        )
    },
    "line.me": ("line", _line, "line.me"),
    "weibo.com": ("weibo", _first("login signup share"), "weibo.com"),
    "myspace.com": ("myspace", _first("discover featured search signin signup pages"), "myspace.com"),
}  # fmt: skip
_COUNTRY_HOSTS: Final = re.compile(
    r"^([a-z]{2,3}|[a-z]{2}-[a-z]{2}|m|mobile|web|touch|business|de-de|en-gb)\.(.+)$"
)


def _reader_of(host: str) -> tuple[str, _Reader, str] | None:
    known = _NETWORKS.get(host)
    if known is None and (match := _COUNTRY_HOSTS.match(host)):
        known = _NETWORKS.get(match[2])
    if known is None and host.startswith("pinterest."):
        known = _NETWORKS["pinterest.com"]
    if known is None and host.startswith(("yelp.", "houzz.")):
        known = _NETWORKS.get(f"{host.partition('.')[0]}.com")
    return known
