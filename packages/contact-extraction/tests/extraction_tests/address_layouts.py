"""Addresses of 22 countries in the layouts of pages."""

Place = tuple[str, str | None, str | None]
"""What stands in the street, the code and the city."""

LAYOUTS: dict[str, tuple[str, str, list[Place]]] = {
    "one line": (
        "us",
        "<p>4120 Juniper Ridge Rd, Bend, OR 97701</p>",
        [("4120 Juniper Ridge Rd", "97701", "Bend")],
    ),
    "highway": (
        "us",
        "<p>Visit us<br>27815 State Highway 249<br>Tomball, TX 77375</p>",
        [("27815 State Highway 249", "77375", "Tomball")],
    ),
    "suite on its own line": (
        "us",
        "<address>1650 W. Fillmore Ave.<br>Ste. B-204<br>Yuma, Arizona 85364</address>",
        [("1650 W. Fillmore Ave", "85364", "Yuma")],
    ),
    "two offices beside each other": (
        "us",
        ("<table><tr><td><b>North Office</b><br>88 Quarry Road<br>Barre, VT "
        "05641</td><td><b>South Office</b><br>2107 Route 7 South<br>Manchester, VT "
        "05255</td></tr></table>"),
        [("88 Quarry Road", "05641", "Barre"), ("2107 Route 7", "05255", "Manchester")],
    ),
    "street before a box": (
        "us",
        ("<p>Offices: 311 Cottonwood Street<br>Mailing address: P.O. Box 914<br>Salida, "
        "CO 81201</p>"),
        [("311 Cottonwood Street", "81201", "Salida")],
    ),
    "footer with bars": (
        "us",
        ("<footer>Pell &amp; Ives Law | 19 Chestnut Square, Suite 3 | Foxborough, MA "
        "02035 | (508) 555-0142</footer>"),
        [("19 Chestnut Square", "02035", "Foxborough")],
    ),
    "footer with bullets": (
        "us",
        ("<footer><p>Copper Kettle Bakery • 702 N Larkspur Blvd • Sandpoint, ID 83864 • "
        "208-555-0171</p></footer>"),
        [("702 N Larkspur Blvd", "83864", "Sandpoint")],
    ),
    "long state name and nine digits": (
        "us",
        "<p>5 Harbor View Terrace<br>Rockport, Massachusetts 01966-2210</p>",
        [("5 Harbor View Terrace", "01966-2210", "Rockport")],
    ),
    "find us at": (
        "us",
        ("<p>Find us at 1402 SE Alder Street, Portland, OR 97214, two doors from the "
        "library.</p>"),
        [("1402 SE Alder Street", "97214", "Portland")],
    ),
    "non-breaking hyphen": (
        "us",
        "<p>330 Twelfth Avenue<br>Nashville, TN 37203\u20110415</p>",
        [("330 Twelfth Avenue", "37203-0415", "Nashville")],
    ),
    "words apart in spans": (
        "us",
        ("<div><span>916 Kettle Creek Lane</span> <span>Boone</span>, <span>NC</span> "
        "<span>28607</span></div>"),
        [("916 Kettle Creek Lane", "28607", "Boone")],
    ),
    "floor before the street": (
        "us",
        "<p>Second Floor<br>45 Ferry Street<br>Troy, NY 12180</p>",
        [("45 Ferry Street", "12180", "Troy")],
    ),
    "cottage without a number": (
        "gb",
        "<p>Thistle Barn<br>Back Lane<br>Aldwincle<br>Northants<br>NN14 3EN</p>",
        [("Back Lane", "NN14 3EN", "Aldwincle")],
    ),
    "business park": (
        "gb",
        "<p>Unit 7, Foxhills Business Park, Brigg Road, Scunthorpe, DN15 8QW</p>",
        [("Brigg Road", "DN15 8QW", "Scunthorpe")],
    ),
    "village and county": (
        "gb",
        ("<p>The Old Forge, 3 Church Row, Nether Stowey, Bridgwater, Somerset TA5 "
        "1LJ</p>"),
        [("3 Church Row", "TA5 1LJ", None)],
    ),
    "code on a line of its own": (
        "gb",
        ("<ul><li>14 Tanner's Yard</li><li>Hexham</li><li>Northumberland</li><li>NE46 "
        "3NP</li></ul>"),
        [("14 Tanner's Yard", "NE46 3NP", "Hexham")],
    ),
    "first floor flat": (
        "gb",
        "<p>First Floor, 118a High Street, Esher KT10 9QJ</p>",
        [("118a High Street", "KT10 9QJ", "Esher")],
    ),
    "two surgeries in a list": (
        "gb",
        ("<h3>Our surgeries</h3><ul><li>Abbey Surgery, 22 Abbey Walk, Selby YO8 "
        "4PZ</li><li>Riccall Surgery, 6 Main Street, Riccall, York YO19 6PX</li></ul>"),
        [("22 Abbey Walk", "YO8 4PZ", "Selby"), ("6 Main Street", "YO19 6PX", None)],
    ),
    "county and eircode": (
        "ie",
        "<p>Unit 2, The Mews, Castle Street, Trim, Co. Meath, C15 T2X9</p>",
        [("Castle Street", "C15 T2X9", "Trim")],
    ),
    "townland": (
        "ie",
        "<p>Ballyduff Lower<br>Kilmeaden<br>Co. Waterford<br>X91 KP40</p>",
        [("Ballyduff Lower", "X91 KP40", "Kilmeaden")],
    ),
    "Dublin by number": (
        "ie",
        "<p>41 Upper Drumcondra Road, Dublin 9, D09 XW64</p>",
        [("41 Upper Drumcondra Road", "D09 XW64", "Dublin")],
    ),
    "label before": (
        "de",
        "<p>Anschrift: Am Mühlbach 4b, 83209 Prien am Chiemsee</p>",
        [("Am Mühlbach 4b", "83209", "Prien am Chiemsee")],
    ),
    "firm, middle dots": (
        "de",
        ("<footer>Tischlerei Harms · Deichweg 17 · 26506 Norden · Tel. 04931 "
        "55512</footer>"),
        [("Deichweg 17", "26506", "Norden")],
    ),
    "part of the town": (
        "de",
        "<p>Obere Dorfstraße 23<br>OT Rehbach<br>07907 Schleiz</p>",
        [("Obere Dorfstraße 23", "07907", "Schleiz")],
    ),
    "corner house with floor": (
        "de",
        ("<p>Praxis am Markt<br>Markt 11<br>Eingang Rathausgasse, 3. OG<br>99423 "
        "Weimar</p>"),
        [("Markt 11", "99423", "Weimar")],
    ),
    "two places under headings": (
        "de",
        ("<h4>Standort Nord</h4><p>Werftstraße 90<br>24143 Kiel</p><h4>Standort "
        "Süd</h4><p>Zum Bahnhof 2<br>24582 Bordesholm</p>"),
        [("Werftstraße 90", "24143", "Kiel"), ("Zum Bahnhof 2", "24582", "Bordesholm")],
    ),
    "box after the street": (
        "de",
        "<p>Lindenallee 8<br>29221 Celle<br>Postfach 1240<br>29202 Celle</p>",
        [("Lindenallee 8", "29221", "Celle")],
    ),
    "definition list": (
        "de",
        ("<dl><dt>Straße</dt><dd>Roßmarkt "
        "6</dd><dt>PLZ</dt><dd>97421</dd><dt>Ort</dt><dd>Schweinfurt</dd></dl>"),
        [("Roßmarkt 6", "97421", "Schweinfurt")],
    ),
    "stair and door": (
        "at",
        "<p>Neustiftgasse 54/2/11<br>A-1070 Wien</p>",
        [("Neustiftgasse 54/2/11", "1070", "Wien")],
    ),
    "hamlet with a number": (
        "at",
        "<p>Gasthof Unterwirt<br>Oberdorf 12<br>5731 Hollersbach</p>",
        [("Oberdorf 12", "5731", "Hollersbach")],
    ),
    "one line in a footer": (
        "at",
        "<footer>Elektro Moser GmbH | Salzachkai 3 | 5400 Hallein | Österreich</footer>",
        [("Salzachkai 3", "5400", "Hallein")],
    ),
    "Swiss German": (
        "ch",
        "<p>Bahnhofplatz 1<br>CH-3600 Thun</p>",
        [("Bahnhofplatz 1", "3600", "Thun")],
    ),
    "French Switzerland": (
        "ch",
        "<p>Chemin des Vergers 14, 1312 Eclépens</p>",
        [("Chemin des Vergers 14", "1312", "Eclépens")],
    ),
    "Swiss box": (
        "ch",
        "<p>Seestrasse 45, Postfach 212, 8712 Stäfa</p>",
        [("Seestrasse 45", "8712", "Stäfa")],
    ),
    "building and cedex": (
        "fr",
        ("<p>Immeuble Le Sirius, bât. C<br>48 avenue des Érables<br>31670 Labège "
        "Cedex</p>"),
        [("48 avenue des Érables", "31670", "Labège")],
    ),
    "place said": (
        "fr",
        "<p>Lieu-dit La Croix Blanche - 24220 Vézac</p>",
        [("La Croix Blanche", "24220", "Vézac")],
    ),
    "bis": (
        "fr",
        "<p>7 bis, rue du Four, 56000 Vannes</p>",
        [("rue du Four", "56000", "Vannes")],
    ),
    "activity zone": (
        "fr",
        "<p>ZA des Trois Fontaines<br>12 rue Ampère<br>72230 Arnage</p>",
        [("12 rue Ampère", "72230", "Arnage")],
    ),
    "capitals": (
        "fr",
        "<p>SARL PINEAU<br>3 PLACE DE L'ÉGLISE<br>85150 VAIRÉ</p>",
        [("3 PLACE DE L'ÉGLISE", "85150", "VAIRÉ")],
    ),
    "Flemish box": (
        "be",
        "<p>Stationsstraat 41 bus 3, 9160 Lokeren</p>",
        [("Stationsstraat 41", "9160", "Lokeren")],
    ),
    "Walloon": (
        "be",
        "<p>Rue de la Fontaine, 28 - B-5190 Spy</p>",
        [("Rue de la Fontaine, 28", "5190", "Spy")],
    ),
    "Dutch lines": (
        "nl",
        "<p>Molendijk 17a<br>4461 PN Goes</p>",
        [("Molendijk 17a", "4461 PN", "Goes")],
    ),
    "visit and post": (
        "nl",
        ("<p><b>Bezoekadres</b><br>Achterom 103<br>2611 PM "
        "Delft</p><p><b>Postadres</b><br>Postbus 77<br>2600 AB Delft</p>"),
        [("Achterom 103", "2611 PM", "Delft")],
    ),
    "no street word": (
        "nl",
        "<p>Het Spijk 22, 9001 DB Grou</p>",
        [("Het Spijk 22", "9001 DB", "Grou")],
    ),
    "without a number": (
        "es",
        "<p>Camino Viejo de Ronda, s/n<br>29400 Ronda (Málaga)</p>",
        [("Camino Viejo de Ronda, s/n", "29400", "Ronda")],
    ),
    "low floor": (
        "es",
        "<p>C/ San Bartolomé, 9, bajo B · 26001 Logroño · La Rioja</p>",
        [("San Bartolomé, 9", "26001", "Logroño")],
    ),
    "Catalan": (
        "es",
        "<p>Carrer de la Riera, 31, 08301 Mataró</p>",
        [("Carrer de la Riera, 31", "08301", "Mataró")],
    ),
    "province": (
        "it",
        "<p>Corso Garibaldi, 114<br>60121 Ancona (AN)</p>",
        [("Corso Garibaldi, 114", "60121", "Ancona")],
    ),
    "district without number": (
        "it",
        "<p>Località Poggiarello 5 - 53036 Poggibonsi (SI)</p>",
        [("Poggiarello 5", "53036", "Poggibonsi")],
    ),
    "registered and working office": (
        "it",
        ("<p>Sede legale: Via dei Mille 3, 35137 Padova (PD)</p><p>Sede operativa: "
        "Viale Europa 88/A, 35020 Saonara (PD)</p>"),
        [
            ("Via dei Mille 3", "35137", "Padova"),
            ("Viale Europa 88/A", "35020", "Saonara"),
        ],
    ),
    "floor and side": (
        "pt",
        "<p>Rua do Almada, 152 - 3.º Dto<br>4050-031 Porto</p>",
        [("Rua do Almada, 152", "4050-031", "Porto")],
    ),
    "plot": (
        "pt",
        "<p>Zona Industrial de Oiã, Lote 12, 3770-059 Oiã</p>",
        [("Zona Industrial de Oiã", "3770-059", "Oiã")],
    ),
    "Swedish": (
        "se",
        "<p>Besöksadress: Hamngatan 14, 1 tr, 572 30 Oskarshamn</p>",
        [("Hamngatan 14", "572 30", "Oskarshamn")],
    ),
    "Swedish estate": (
        "se",
        "<p>Ekeby Gård<br>745 96 Enköping</p>",
        [("Ekeby Gård", "745 96", "Enköping")],
    ),
    "Norwegian": (
        "no",
        "<p>Besøk oss: Fjordgata 22B, 7010 Trondheim</p>",
        [("Fjordgata 22B", "7010", "Trondheim")],
    ),
    "Norwegian place name": (
        "no",
        "<p>Nedre Slottsveien 3<br>N-2827 Hunndalen</p>",
        [("Nedre Slottsveien 3", "2827", "Hunndalen")],
    ),
    "Danish floor": (
        "dk",
        "<p>Nørregade 28, 2. th., 5000 Odense C</p>",
        [("Nørregade 28", "5000", "Odense C")],
    ),
    "Danish bars": (
        "dk",
        ("<footer>Havnens Tandklinik | Toldbodgade 6, st. | 4800 Nykøbing F | tlf. 54 "
        "55 51 23</footer>"),
        [("Toldbodgade 6", "4800", "Nykøbing F")],
    ),
    "Finnish": (
        "fi",
        "<p>Koulukatu 12 A 7, 65100 Vaasa</p>",
        [("Koulukatu 12 A 7", "65100", "Vaasa")],
    ),
    "Finnish village": (
        "fi",
        "<p>Rantakyläntie 88<br>FI-51200 Kangasniemi</p>",
        [("Rantakyläntie 88", "51200", "Kangasniemi")],
    ),
    "Polish flat": (
        "pl",
        "<p>ul. Wincentego Witosa 9 lok. 4<br>35-115 Rzeszów</p>",
        [("Witosa 9", "35-115", "Rzeszów")],
    ),
    "Polish village": (
        "pl",
        "<p>Brzezówka 114, 39-102 Lubzina</p>",
        [("Brzezówka 114", "39-102", "Lubzina")],
    ),
    "Polish estate of houses": (
        "pl",
        "<p>os. Słoneczne 3/16, 31-958 Kraków</p>",
        [("Słoneczne 3/16", "31-958", "Kraków")],
    ),
    "Czech slash": (
        "cz",
        "<p>Ostrovského 253/3, 150 00 Praha 5</p>",
        [("Ostrovského 253/3", "150 00", "Praha")],
    ),
    "Czech village": (
        "cz",
        "<p>Horní Lhota 27<br>763 23 Dolní Lhota</p>",
        [("Horní Lhota 27", "763 23", "Dolní Lhota")],
    ),
    "Czech square": (
        "cz",
        "<p>nám. Republiky 8, 2. patro, 746 01 Opava</p>",
        [("Republiky 8", "746 01", "Opava")],
    ),
    "Hungarian": (
        "hu",
        "<p>9021 Győr, Kazinczy utca 7. 1/3.</p>",
        [("Kazinczy utca 7", "9021", "Győr")],
    ),
    "Hungarian lines": (
        "hu",
        "<p>Cím:<br>4024 Debrecen<br>Piac u. 40. II. emelet</p>",
        [("Piac u. 40", "4024", "Debrecen")],
    ),
    "Australian shop": (
        "au",
        "<p>Shop 3, 54 Wattle Parade, Glenelg SA 5045</p>",
        [("54 Wattle Parade", "5045", "Glenelg")],
    ),
    "Australian level": (
        "au",
        "<p>Level 2<br>190 Flinders Lane<br>Melbourne VIC 3000</p>",
        [("190 Flinders Lane", "3000", "Melbourne")],
    ),
    "Canadian unit first": (
        "ca",
        "<p>204-1855 Cedar Hill Road, Victoria, BC V8P 1L4</p>",
        [("1855 Cedar Hill Road", "V8P 1L4", "Victoria")],
    ),
    "Québec": (
        "ca",
        "<p>1225, rue Notre-Dame Ouest, bureau 310<br>Montréal (Québec) H3C 0A5</p>",
        [("rue Notre-Dame", "H3C 0A5", "Montréal")],
    ),
    "New Zealand": (
        "nz",
        "<p>Suite 5, 17 Kauri Crescent, Howick, Auckland 2014</p>",
        [("17 Kauri Crescent", "2014", None)],
    ),
    "microformat": (
        "gb",
        ('<div class="vcard adr"><span class="street-address">8 Orchard '
        'Close</span><br><span class="locality">Ledbury</span> <span '
        'class="postal-code">HR8 2DX</span></div>'),
        [("8 Orchard Close", "HR8 2DX", "Ledbury")],
    ),
    "microdata": (
        "us",
        ('<div itemprop="address" itemscope '
        'itemtype="http://schema.org/PostalAddress"><span itemprop="streetAddress">63 '
        'Mill Pond Rd</span>, <span itemprop="addressLocality">Otis</span>, <span '
        'itemprop="addressRegion">ME</span> <span '
        'itemprop="postalCode">04605</span></div>'),
        [("63 Mill Pond Rd", "04605", "Otis")],
    ),
    "linked data": (
        "de",
        ('<script type="application/ld+json">{"@type":"Dentist","name":"Praxis '
        'Ulm","address":{"@type":"PostalAddress","streetAddress":"Kornhausgasse '
        '9","postalCode":"89073","addressLocality":"Ulm"}}</script><p>Willkommen</p>'),
        [("Kornhausgasse 9", "89073", "Ulm")],
    ),
    "title of a map": (
        "nl",
        ('<p>Kom langs</p><iframe src="https://www.google.com/maps/embed?pb=1" '
        'title="Kaart: Vismarkt 9, 7411 LP Deventer"></iframe>'),
        [("Vismarkt 9", "7411 LP", "Deventer")],
    ),
    "query of a map": (
        "us",
        ("<p>Come by</p><iframe "
        'src="https://maps.google.com/maps?q=77+Granite+Street,+Barre,+VT+05641&out'
        'put=embed"></iframe>'),
        [("77 Granite Street", "05641", "Barre")],
    ),
    "table of labels": (
        "fr",
        ("<table><tr><th>Adresse</th><td>15 quai Saint-Michel</td></tr><tr><th>Code "
        "postal</th><td>29600</td></tr><tr><th>Ville</th><td>Morlaix</td></tr></table>"),
        [("15 quai Saint-Michel", "29600", "Morlaix")],
    ),
    "text with a label": (
        "us",
        ("<p><strong>Address:</strong> 2250 Old Mill Pkwy #110, Cary, NC 27511 "
        "<strong>Phone:</strong> 919-555-0130</p>"),
        [("2250 Old Mill Pkwy #110", "27511", "Cary")],
    ),
    "heading and paragraph": (
        "se",
        ("<h3>Hitta hit</h3><p>Storgatan 51<br/>(ingång från Torggatan)<br/>903 26 "
        "Umeå</p>"),
        [("Storgatan 51", "903 26", "Umeå")],
    ),
    "non-breaking spaces": (
        "cz",
        "<p>Palackého\u00a01135/27,\u00a0612\u00a000\u00a0Brno</p>",
        [("Palackého 1135/27", "612 00", "Brno")],
    ),
}  # fmt: skip
