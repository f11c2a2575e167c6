"""Addresses of villages and estates, with boxes, doors and abbreviations, as pages set them."""

from extraction_tests.address_layouts import Place

FORMS: dict[str, tuple[str, str, list[Place]]] = {
    "se: Bergby Herrgård 2": (
        "se",
        "<p>Bergby Herrgård 2, 815 94 Tierp</p>",
        [("Bergby Herrgård 2", "815 94", "Tierp")],
    ),
    "se: Åkervägen 9": (
        "se",
        "<footer>Lindhs Bygg AB, Åkervägen 9, SE-452 31 Strömstad</footer>",
        [("Åkervägen 9", "452 31", "Strömstad")],
    ),
    "se: Norra Hamngatan 4": (
        "se",
        "<p>Box 114<br>Norra Hamngatan 4<br>451 16 Uddevalla</p>",
        [("Norra Hamngatan 4", "451 16", "Uddevalla")],
    ),
    "se: Väsby 112": (
        "se",
        "<p>Väsby 112<br>193 91 Sigtuna</p>",
        [("Väsby 112", "193 91", "Sigtuna")],
    ),
    "no: Øvre Eide gård": (
        "no",
        "<p>Øvre Eide gård<br>5259 Hjellestad</p>",
        [("Øvre Eide gård", "5259", "Hjellestad")],
    ),
    "no: Bryggeveien 12": (
        "no",
        "<p>Postboks 45, 4085 Hundvåg. Besøksadresse: Bryggeveien 12, 4085 Hundvåg</p>",
        [("Bryggeveien 12", "4085", "Hundvåg")],
    ),
    "no: Sentrum 4": (
        "no",
        "<p>Sentrum 4<br>6783 Stryn</p>",
        [("Sentrum 4", "6783", "Stryn")],
    ),
    "no: Vikeså 14": (
        "no",
        "<p>Vikeså 14, 4389 Vikeså</p>",
        [("Vikeså 14", "4389", "Vikeså")],
    ),
    "fi: Metsäkyläntie 210 B": (
        "fi",
        "<p>Metsäkyläntie 210 B, 16300 Orimattila</p>",
        [("Metsäkyläntie 210 B", "16300", "Orimattila")],
    ),
    "fi: Kauppatori 3": (
        "fi",
        "<p>Kauppatori 3, 2. krs<br/>87100 KAJAANI</p>",
        [("Kauppatori 3", "87100", "KAJAANI")],
    ),
    "pl: Wólka Dworska 7A": (
        "pl",
        "<p>Zakład Kamieniarski<br>Wólka Dworska 7A<br>05-530 Góra Kalwaria</p>",
        [("Wólka Dworska 7A", "05-530", "Góra Kalwaria")],
    ),
    "pl: Plac Wolności 12/3": (
        "pl",
        "<p>Plac Wolności 12/3 | 61-739 Poznań</p>",
        [("Plac Wolności 12/3", "61-739", "Poznań")],
    ),
    "pl: Jana Pawła II 61": (
        "pl",
        "<p>al. Jana Pawła II 61 lok. 212, 01-031 Warszawa</p>",
        [("Jana Pawła II 61", "01-031", "Warszawa")],
    ),
    "pl: Wielicka 44c": (
        "pl",
        "<p>Biuro: 30-552 Kraków, Wielicka 44c/8</p>",
        [("Wielicka 44c", "30-552", "Kraków")],
    ),
    "cz: U Stadionu 1355/16": (
        "cz",
        "<p>U Stadionu 1355/16<br>434 01 Most</p>",
        [("U Stadionu 1355/16", "434 01", "Most")],
    ),
    "hu: Szent István krt. 18": (
        "hu",
        "<p>1137 Budapest, Szent István krt. 18. III/2.</p>",
        [("Szent István krt. 18", "1137", "Budapest")],
    ),
    "hu: Dózsa György út 21/A": (
        "hu",
        "<p>Székhely: H-8200 Veszprém, Dózsa György út 21/A</p>",
        [("Dózsa György út 21/A", "8200", "Veszprém")],
    ),
    "it: Piazza San Marco n. 7": (
        "it",
        "<p>Piazza San Marco n. 7 \u2013 31100 Treviso TV</p>",
        [("Piazza San Marco n. 7", "31100", "Treviso")],
    ),
    "it: Vittorio Emanuele II, 42": (
        "it",
        "<p>C.so Vittorio Emanuele II, 42 bis - 10123 - Torino</p>",
        [("Vittorio Emanuele II, 42", "10123", "Torino")],
    ),
    "it: Molina, 12": (
        "it",
        "<p>Fraz. Molina, 12<br>38015 Lavis (Trento)</p>",
        [("Molina, 12", "38015", "Lavis")],
    ),
    "it: Contrada Santa Lucia snc": (
        "it",
        "<p>Contrada Santa Lucia snc, 92100 Agrigento</p>",
        [("Contrada Santa Lucia snc", "92100", "Agrigento")],
    ),
    "es: Plaza Mayor 3": (
        "es",
        "<p>Plaza Mayor 3, 37001, Salamanca, España</p>",
        [("Plaza Mayor 3", "37001", "Salamanca")],
    ),
    "es: N-340, km 1051": (
        "es",
        "<p>Ctra. N-340, km 1051 · 12500 Vinaròs (Castellón)</p>",
        [("N-340, km 1051", "12500", "Vinaròs")],
    ),
    "pt: 25 de Abril, nº 40": (
        "pt",
        "<p>Av. 25 de Abril, nº 40, r/c Esq, 2830-348 Barreiro</p>",
        [("25 de Abril, nº 40", "2830-348", "Barreiro")],
    ),
    "pt: Comércio, 13 A": (
        "pt",
        "<p>Praceta do Comércio, 13 A · 2610-042 Alfragide · Amadora</p>",
        [("Comércio, 13 A", "2610-042", "Alfragide")],
    ),
    "fr: 125 bd de la Corderie": (
        "fr",
        ("<p>Résidence Les Pins, Bât A<br>125 bd de la Corderie<br>13007 MARSEILLE "
        "07</p>"),
        [("125 bd de la Corderie", "13007", "MARSEILLE")],
    ),
    "fr: 1 allée du Lac": (
        "fr",
        "<p>1 allée du Lac \u2013 BP 20017 \u2013 74940 Annecy</p>",
        [("1 allée du Lac", "74940", "Annecy")],
    ),
    "be: Avenue Louise 231/5": (
        "be",
        "<p>Avenue Louise 231/5 \u2013 1050 Bruxelles</p>",
        [("Avenue Louise 231/5", "1050", "Bruxelles")],
    ),
    "be: Kempische Steenweg 311": (
        "be",
        "<p>Kempische Steenweg 311 bus 2.01, 3500 Hasselt</p>",
        [("Kempische Steenweg 311", "3500", "Hasselt")],
    ),
    "nl: Zuid-Oostsingel 24": (
        "nl",
        "<p>Zuid-Oostsingel 24-B<br>4611 BB&nbsp; Bergen op Zoom</p>",
        [("Zuid-Oostsingel 24", "4611 BB", "Bergen op Zoom")],
    ),
    "nl: Kanaaldijk-Zuid 5-B": (
        "nl",
        "<p>Postbus 412 5600 AK Eindhoven | Kanaaldijk-Zuid 5-B 5613 LE Eindhoven</p>",
        [("Kanaaldijk-Zuid 5-B", "5613 LE", "Eindhoven")],
    ),
    "nl: Bovenkerk 8": (
        "nl",
        "<p>Bovenkerk 8, 2861 XE te Bergambacht</p>",
        [("Bovenkerk 8", "2861 XE", "Bergambacht")],
    ),
    "de: Gut Wolfshagen 3": (
        "de",
        "<p>Gut Wolfshagen 3<br>17258 Feldberger Seenlandschaft</p>",
        [("Gut Wolfshagen 3", "17258", "Feldberger Seenlandschaft")],
    ),
    "de: Unter den Eichen 5": (
        "de",
        ("<p>Sitz: Unter den Eichen 5 G, 65195 Wiesbaden; Zweigstelle: Marktstr. 2\u20134, "
        "55116 Mainz</p>"),
        [
            ("Unter den Eichen 5", "65195", "Wiesbaden"),
            ("Marktstr. 2\u20134", "55116", "Mainz"),
        ],
    ),
    "de: Hinterm Deich 12": (
        "de",
        "<p>Hinterm Deich 12\u200b<br>D \u2013 25899 Niebüll</p>",
        [("Hinterm Deich 12", "25899", "Niebüll")],
    ),
    "de: St.-Georg-Str. 7": (
        "de",
        "<p>St.-Georg-Str. 7 • Haus B • 86609 Donauwörth</p>",
        [("St.-Georg-Str. 7", "86609", "Donauwörth")],
    ),
    "at: 87": (
        "at",
        "<p>Nr. 87<br>6867 Schwarzenberg</p>",
        [("87", "6867", "Schwarzenberg")],
    ),
    "at: Dorf 18": (
        "at",
        "<p>Dorf 18, 6384 Waidring in Tirol</p>",
        [("Dorf 18", "6384", None)],
    ),
    "ch: Via Cantonale 19": (
        "ch",
        "<p>Via Cantonale 19, 6900 Lugano</p>",
        [("Via Cantonale 19", "6900", "Lugano")],
    ),
    "ch: Im Gässli 4": (
        "ch",
        "<p>Im Gässli 4, Postfach, 4123 Allschwil 1</p>",
        [("Im Gässli 4", "4123", "Allschwil")],
    ),
    "gb: Aston Road": (
        "gb",
        "<p>Lower Farm Stables, Aston Road, Bampton, Oxfordshire, OX18 2AF</p>",
        [("Aston Road", "OX18 2AF", "Bampton")],
    ),
    "gb: 55-56 Lincoln's Inn Fields": (
        "gb",
        ("<p>Suite 12, 2nd Floor, Queens House, 55-56 Lincoln's Inn Fields, London WC2A "
        "3LJ</p>"),
        [("55-56 Lincoln's Inn Fields", "WC2A 3LJ", "London")],
    ),
    "gb: Chapel Lane": (
        "gb",
        "<p>The Surgery, Chapel Lane, Great Blakenham, Ipswich, IP6 0JZ</p>",
        [("Chapel Lane", "IP6 0JZ", None)],
    ),
    "ie: Main Street": (
        "ie",
        "<p>Main Street, Clane, Co Kildare W91 X2N8</p>",
        [("Main Street", "W91 X2N8", "Clane")],
    ),
    "ie: Knockanrawley Resource Centre": (
        "ie",
        "<p>Knockanrawley Resource Centre<br>Tipperary Town<br>E34 TP62</p>",
        [("Knockanrawley Resource Centre", "E34 TP62", None)],
    ),
    "us: One Harbor Place": (
        "us",
        "<p>One Harbor Place, Suite 400<br>Portsmouth, NH 03801</p>",
        [("One Harbor Place", "03801", "Portsmouth")],
    ),
    "us: 1200 Broadway": (
        "us",
        "<p>1200 Broadway<br/>Nashville, Tenn. 37203</p>",
        [("1200 Broadway", "37203", "Nashville")],
    ),
    "us: 6545 France Ave S": (
        "us",
        ("<p>Our clinics:</p><ul><li><b>Edina</b> 6545 France Ave S, Ste 225, Edina MN "
        "55435</li><li><b>Plymouth</b> 2805 Campus Dr, Ste 485, Plymouth MN "
        "55441</li></ul>"),
        [
            ("6545 France Ave S", "55435", "Edina"),
            ("2805 Campus Dr", "55441", "Plymouth"),
        ],
    ),
    "us: 24 Merchants Row": (
        "us",
        "<p>24 Merchants Row, PO Box 67, Middlebury, VT 05753</p>",
        [("24 Merchants Row", "05753", "Middlebury")],
    ),
    "au: 2140 Bass Highway": (
        "au",
        "<p>RMB 2140 Bass Highway, Bass VIC 3991</p>",
        [("2140 Bass Highway", "3991", "Bass")],
    ),
    "au: 88 Railway Pde": (
        "au",
        "<p>14/88 Railway Pde, Kogarah, NSW, 2217</p>",
        [("88 Railway Pde", "2217", "Kogarah")],
    ),
    "ca: 4415 Highway 6": (
        "ca",
        "<p>RR 2, 4415 Highway 6<br>Puslinch, Ontario N0B 2J0</p>",
        [("4415 Highway 6", "N0B 2J0", "Puslinch")],
    ),
    "ca: 100 King St W": (
        "ca",
        "<p>100 King St W Suite 5600, Toronto ON&nbsp;&nbsp;M5X 1C9</p>",
        [("100 King St W", "M5X 1C9", "Toronto")],
    ),
    "nz: 27 Gillies Ave": (
        "nz",
        "<p>1/27 Gillies Ave<br>Newmarket<br>Auckland 1023</p>",
        [("27 Gillies Ave", "1023", "Auckland")],
    ),
    "dk: Sønder Vissing Mark 3": (
        "dk",
        "<p>Sønder Vissing Mark 3, 8740 Brædstrup</p>",
        [("Sønder Vissing Mark 3", "8740", "Brædstrup")],
    ),
    "dk: Ved Stranden 20 B": (
        "dk",
        "<p>Ved Stranden 20 B, kld.<br>DK 9000 Aalborg</p>",
        [("Ved Stranden 20 B", "9000", "Aalborg")],
    ),
    "ca: code behind the country": (
        "ca",
        "<p>439 King Street West, Fifth Floor<br>Toronto, Ontario, Canada<br>M5V 1K4</p>",
        [("439 King Street West", "M5V 1K4", "Toronto")],
    ),
}  # fmt: skip
