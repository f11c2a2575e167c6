"""The parts of pages that say how to reach someone, with and without markup."""

import json
from collections.abc import Iterable
from html import escape

from simulated_town.business import (
    Business,
    Disguise,
    LineKind,
    Markup,
    PageKind,
    TelephoneLine,
)
from simulated_town.sites.disguise import write_mailbox


def contact_block(business: Business, page: PageKind) -> str:
    """Write name, address, numbers and mailboxes that stand on this page."""
    words = business.locale.words_for
    card = _Card(business.markup)
    rows = [f"<h2{card.name}>{escape(business.name)}</h2>", _address(business, card)]
    rows += [
        _line(business, line, card) for line in business.lines if line.page is page
    ]
    rows += [
        f"<p>{words['email']}: {write_mailbox(box, business.locale)}</p>"
        for box in business.mailboxes
        if box.page is page
    ]
    return f"<div{card.whole}>{''.join(rows)}</div>"


def hours_block(business: Business) -> str:
    """Write the opening hours as a table."""
    locale = business.locale
    rows = "".join(
        f"<tr><td>{locale.days[o.day]}</td>"
        f"<td>{f'{o.opens} – {o.closes}' if o.opens else locale.closed}</td></tr>"  # noqa: RUF001
        for o in business.hours
    )
    return f'<h3>{locale.words_for["hours"]}</h3><table class="hours">{rows}</table>'


def team_block(business: Business) -> str:
    """Write everyone who works there, with the mailboxes that are theirs."""
    boxes = {
        box.address: box for box in business.mailboxes if box.page is PageKind.TEAM
    }
    cards = []
    for person in business.people:
        mail = ""
        if person.mailbox is not None:
            mail = f"<p>{write_mailbox(boxes[person.mailbox], business.locale)}</p>"
        cards.append(
            f'<div class="team-member"><h3>{escape(person.name)}</h3>'
            f'<p class="role">{escape(person.role)}</p>{mail}</div>'
        )
    return f'<div class="team">{"".join(cards)}</div>'


def imprint_block(business: Business) -> str:
    """Write who is responsible for the site."""
    words = business.locale.words_for
    address = business.address
    lines = (business.name, *address.lines)
    rows = [f"<p>{'<br>'.join(escape(line) for line in lines)}</p>"]
    rows += [f"<p>{escape(p.role)}: {escape(p.name)}</p>" for p in business.people[:1]]
    rows += [
        f"<p>{words['email']}: {write_mailbox(box, business.locale)}</p>"
        for box in business.mailboxes
        if box.page is PageKind.IMPRINT
    ]
    rows.append(f"<p>{words['vat']}: XX{100000000 + business.number}</p>")
    return "".join(rows)


def extra_block(business: Business) -> str:
    """Write the mailboxes and numbers that stand on the page about the business."""
    words = business.locale.words_for
    rows = [
        f"<p>{words['email']}: {write_mailbox(box, business.locale)}</p>"
        for box in business.mailboxes
        if box.page is PageKind.ABOUT
    ]
    plain = _Card(Markup.NONE)
    rows += [
        _line(business, line, plain)
        for line in business.lines
        if line.page is PageKind.ABOUT
    ]
    return "".join(rows)


def press_block(business: Business) -> str:
    """Write the mailboxes for journalists."""
    words = business.locale.words_for
    return "".join(
        f"<p>{words['email']}: {write_mailbox(box, business.locale)}</p>"
        for box in business.mailboxes
        if box.page is PageKind.PRESS
    )


def json_ld(businesses: Iterable[Business], page: PageKind) -> str:
    """Write the same facts for machines, where the business does that."""
    things = [_thing(b, page) for b in businesses if b.markup is Markup.JSON_LD]
    if not things:
        return ""
    text = json.dumps({"@context": "https://schema.org", "@graph": things})
    return f'<script type="application/ld+json">{text}</script>'


class _Card:
    """The attributes that a kind of markup adds to each part of a block."""

    def __init__(self, markup: Markup) -> None:
        is_micro, is_hcard = markup is Markup.MICRODATA, markup is Markup.HCARD
        self.whole = ' class="contact-details"'
        if is_micro:
            self.whole = ' itemscope itemtype="https://schema.org/LocalBusiness"'
        elif is_hcard:
            self.whole = ' class="vcard"'
        self.name = _choose(is_micro, ' itemprop="name"', is_hcard, ' class="fn org"')
        self.phone = _choose(
            is_micro, ' itemprop="telephone"', is_hcard, ' class="tel"'
        )
        self.fax = _choose(is_micro, ' itemprop="faxNumber"', is_hcard, ' class="fax"')
        self.address = _choose(
            is_micro,
            ' itemprop="address" itemscope itemtype="https://schema.org/PostalAddress"',
            is_hcard,
            ' class="adr"',
        )
        self.street = _choose(
            is_micro, ' itemprop="streetAddress"', is_hcard, ' class="street-address"'
        )


def _choose(is_micro: bool, micro: str, is_hcard: bool, hcard: str) -> str:  # noqa: FBT001
    if is_micro:
        return micro
    return hcard if is_hcard else ""


def _address(business: Business, card: _Card) -> str:
    address = business.address
    lines = [
        f"<span{card.street if line == address.street else ''}>{escape(line)}</span>"
        for line in address.lines
    ]
    return f"<p{card.address}>{'<br>'.join(lines)}</p>"


def _line(business: Business, line: TelephoneLine, card: _Card) -> str:
    words = business.locale.words_for
    is_fax = line.kind is LineKind.FAX
    label = words["fax"] if is_fax else words["phone"]
    text = line.written
    if line.is_link:
        text = f'<a href="tel:{line.e164}">{line.written}</a>'
    return f"<p>{label}: <span{card.fax if is_fax else card.phone}>{text}</span></p>"


def _thing(business: Business, page: PageKind) -> dict[str, object]:
    address = business.address
    thing: dict[str, object] = {
        "@type": "LocalBusiness",
        "name": business.name,
        "address": {
            "@type": "PostalAddress",
            "streetAddress": address.street,
            "postalCode": address.postcode,
            "addressLocality": address.town,
            "addressCountry": address.country,
        },
        "sameAs": list(business.profiles),
    }
    lines = [line for line in business.lines if line.page is page]
    if phones := [line.e164 for line in lines if line.kind is LineKind.PHONE]:
        thing["telephone"] = phones[0]
    # Whoever hides an address from machines does not write it down for them.
    open_ = [
        box.address
        for box in business.mailboxes
        if box.page is page and box.disguise in {Disguise.TEXT, Disguise.MAILTO}
    ]
    if open_:
        thing["email"] = open_[0]
    return thing
