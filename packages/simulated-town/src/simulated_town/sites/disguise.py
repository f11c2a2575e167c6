"""E-mail addresses as pages write them, for people and against machines."""

from html import escape

from simulated_town.business import Disguise, Mailbox
from simulated_town.locale import Locale


def write_mailbox(mailbox: Mailbox, locale: Locale) -> str:
    """Write an address as HTML in its disguise."""
    address = mailbox.address
    match mailbox.disguise:
        case Disguise.TEXT:
            return f"<span>{address}</span>"
        case Disguise.MAILTO:
            return f'<a href="mailto:{address}">{address}</a>'
        case Disguise.ENTITIES:
            return f'<a href="{entities(f"mailto:{address}")}">{entities(address)}</a>'
        case Disguise.AT_DOT:
            return f"<span>{escape(at_dot(address, locale))}</span>"
        case Disguise.CLOUDFLARE:
            return (
                '<a href="/cdn-cgi/l/email-protection" class="__cf_email__" '
                f'data-cfemail="{cloudflare(address)}">[email&#160;protected]</a>'
            )
        case Disguise.SCRIPT:
            return f"<script>{script(address)}</script>"
        case Disguise.REVERSED:
            style = "unicode-bidi:bidi-override;direction:rtl"
            return f'<span style="{style}">{address[::-1]}</span>'
        case Disguise.IMAGE_ALT:
            return f'<img src="/assets/mail.png" alt="{address}" height="18">'
        case Disguise.DATA_ATTRIBUTE:
            local, _, domain = address.partition("@")
            return (
                f'<a class="mail-link" href="#" data-user="{local}" '
                f'data-domain="{domain}">{locale.words_for["email"]}</a>'
            )


def entities(text: str) -> str:
    """Write every letter as a numeric entity, decimal and hexadecimal in turn."""
    return "".join(
        f"&#{ord(c)};" if place % 2 else f"&#x{ord(c):x};"
        for place, c in enumerate(text)
    )


def at_dot(address: str, locale: Locale) -> str:
    """Spell the signs out, in one of the ways people do."""
    local, _, domain = address.partition("@")
    name, _, ending = domain.rpartition(".")
    at, dot = locale.words_for["at"], locale.words_for["dot"]
    forms = (
        f"{local} [at] {name} [dot] {ending}",
        f"{local}(at){domain}",
        f"{local} [{at}] {name} [{dot}] {ending}",
        f"{local} (at) {name} (dot) {ending}",
    )
    return forms[len(address) % len(forms)]


def cloudflare(address: str) -> str:
    """Encode an address as the well-known protection service does."""
    key = sum(address.encode()) % 255 + 1
    return bytes([key, *(byte ^ key for byte in address.encode())]).hex()


def script(address: str) -> str:
    """Write a script that puts the address together in the browser."""
    local, _, domain = address.partition("@")
    name, _, ending = domain.rpartition(".")
    if len(address) % 2:
        return (
            f"var u='{local}';var d='{name}'+'.'+'{ending}';"
            "document.write('<a href=\"mailto:'+u+'@'+d+'\">'+u+'@'+d+'</a>');"
        )
    return f"document.write(['{local}', '{domain}'].join('@'));"
