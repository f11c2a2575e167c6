"""What the parsers of the stages load before they are handed a stranger's page."""

from typing import Final

from contact_extraction.contact_page import read_contact_page
from contact_extraction.home_page import read_home_page
from contact_extraction.page_list import list_linked_pages
from scrapersky.crawler.sandbox import Call

URL: Final = "http://werft.bv/"
# Numbers, addresses, names and words of many countries: each loads lists of its own.
SAMPLE: Final = """<!doctype html><html lang="de"><head><title>Muster Werft GmbH</title>
<script type="application/ld+json">{"@type": "LocalBusiness", "name": "Muster Werft GmbH",
"telephone": "+49 40 3344551", "address": {"@type": "PostalAddress", "streetAddress":
"Hafenweg 3", "postalCode": "20457", "addressLocality": "Hamburg", "addressCountry": "DE"}}
</script></head><body><nav><a href="/kontakt">Kontakt</a> <a href="/team">Unser Team</a>
<a href="/about-us?lang=en">About us</a> <a href="https://www.facebook.com/musterwerft">f</a></nav>
<h1>Muster Werft GmbH</h1><h2>Ansprechpartner</h2>
<p>Geschäftsführerin: Dr. Anna Berg</p><p>anna.berg@werft.bv, Tel. 040 3344552</p>
<p>Peter Holm, Leiter Verkauf, peter [at] werft.bv</p>
<h2>Anschrift</h2><p>Hafenweg 3, 20457 Hamburg, Telefax: 040 3344559</p>
<p>Mo-Fr 9:00-17:00</p>
<h2>Offices</h2><p>221 High Street, Leeds LS1 4AP, United Kingdom, +44 113 496 0188</p>
<p>1200 Congress Avenue, Austin, TX 78701, (512) 555-0188, owner: John Miller</p>
<p>12 rue de la Paix, 75002 Paris, +33 1 70 18 99 01, gérant : Luc Martin</p>
<p>Kungsgatan 3, 411 19 Göteborg, +46 31 390 60 01. Verkställande direktör: Eva Lind</p>
<p>Calle Mayor 5, 28013 Madrid, +34 910 500 011. Via Roma 7, 20121 Milano, +39 02 3045 1122</p>
<footer>© 2026 Muster Werft GmbH, Registergericht Hamburg, HRB 12345</footer></body></html>
""".encode()
WARM: Final[tuple[Call, ...]] = (
    (read_home_page, (SAMPLE, URL, URL, "utf-8", 200)),
    (read_contact_page, (SAMPLE, f"{URL}kontakt", "utf-8", None)),
    (list_linked_pages, (SAMPLE, URL, "utf-8")),
)
"""Calls on a page of ours: what they load, every parser shares."""
