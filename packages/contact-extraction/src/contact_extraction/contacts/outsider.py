"""Signs that whoever or whatever a text names is not of the business.

Courses that somebody took, customers, donors, relatives, former owners, authors and the
people of a template are named on the pages of a business as well. The words are those
that such sections have in any trade; none is the name of somebody.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from contact_extraction.html import Line
from contact_extraction.text import small, small_pattern

SITE_WIDE: Final = ("header", "footer", "nav")
"""Regions that every page of a site has."""

MAX_HEADING: Final = 80
MAX_WORDS: Final = 5
"""Words of a heading that announces other firms, and not what the business does for them."""


def is_filler(text: str) -> bool:
    """Say whether a text is one of those that templates are filled with."""
    return may_hold_filler(text.lower()) and bool(_FILLER.search(text))


def may_hold_filler(low: str) -> bool:
    """Rule most texts out, given in lower case, by some plain searches."""
    return any(sign in low for sign in _FILLER_SIGNS)


def heads_outsiders(heading: str) -> bool:
    """Say whether a heading announces people and firms who are not of the business."""
    return len(heading) <= MAX_HEADING and _OUTSIDERS.search(small(heading)) is not None


def is_page_of_outsiders(path: str) -> bool:
    """Say whether the path of a page promises others: references, partners, courses."""
    return _OUTSIDER_PATH.search(path) is not None


def is_of_goods(path: str) -> bool:
    """Say whether the path of a page promises dishes, animals or brands."""
    return _GOODS_PATH.search(path) is not None


def is_priced(text: str) -> bool:
    """Say whether a text is of something with a price, or of a dish with its diets."""
    return _PRICE.search(text) is not None


def is_of_places(path: str) -> bool:
    """Say whether the path of a page promises the towns that a business serves."""
    return _PLACES_PATH.search(path) is not None


def heads_places(text: str) -> bool:
    """Say whether a heading or the beginning of a list announces towns."""
    return len(text) <= MAX_HEADING and _PLACES.search(small(text)) is not None


# Each reader of a page asks about its headings, and pages of a site share many.
@lru_cache(2_048)
def heads_other_firms(heading: str) -> bool:
    """Say whether a heading announces firms that are not the business."""
    is_short = len(heading) <= MAX_HEADING and len(heading.split()) <= MAX_WORDS
    return is_short and _OTHER_FIRMS.search(small(heading)) is not None


def heads_vendors(heading: str) -> bool:
    """Say whether a heading announces firms whose people are not of the business.

    "Partners" and "Human Resources" head people of the business as well.
    """
    return heads_other_firms(heading) and _VENDORS.search(small(heading)) is not None


def lines_below(
    lines: Sequence[Line],
    is_head: Callable[[str], bool],
    is_own_again: Callable[[str], bool],
) -> frozenset[int]:
    """Give the lines below a heading about others, up to the next one of its rank.

    `is_own_again` says whether a line begins what is the business's own.
    """
    found: list[int] = []
    level = 0
    for number, line in enumerate(lines):
        if line.heading and (not level or line.heading <= level):
            level = line.heading if is_head(line.text) else 0
        elif level and (
            line.region in SITE_WIDE or is_own_again(line.text[:MAX_HEADING].strip())
        ):
            level = 0
        if level:
            found.append(number)
    return frozenset(found)


def is_page_of_other_firms(path: str) -> bool:
    """Say whether the path of a page promises firms that are not the business."""
    return _OTHER_FIRM_PATH.search(path) is not None


@lru_cache(1_024)
def is_course(text: str) -> bool:
    """Say whether a text tells what somebody has learnt."""
    return _COURSE.search(small(text)) is not None


@lru_cache(1_024)
def is_former(text: str) -> bool:
    """Say whether a text speaks of somebody who has left or died."""
    return _FORMER.search(small(text)) is not None


def announces_relative(before: str) -> bool:
    """Say whether the words before a name make it that of a relative or a teacher."""
    return _RELATIVE.search(small(before)) is not None


_GOODS_PATH: Final = re.compile(
    r"(?:^|[/_-])(?:menus?|speisekarte|getraenke|la-carte|carte|carta|karta|dish(?:es)?|drinks|wines?|weine|puppies|kittens?|litters?|"
    r"horses|hunde|welpen|adopt\w*|available|brands?|marken|marques|marche|marcas|collections?|catalogue?|frames|eyewear|"
    r"models?|products?|produkte|prodotti|produits|productos|shop|store)(?:$|[/_.-])",
    re.IGNORECASE,
)
_PRICE: Final = re.compile(
    r"[$€£]\s?\d|\d[.,]\d\d?\s?(?:€|kr\b|zł|Kč|Ft\b|EUR|USD|CHF|,-)|\((?:GF|VG?|DF|VE|GFO|VGN?|VEG)(?:[,/ ](?:GF|VG?|DF|VE|VO?))*\)"
)
_PLACES_PATH: Final = re.compile(
    r"(?:^|[/_-])(?:(?:service-)?areas?(?:-(?:we-)?served?)?|cities|towns|einzugsgebiet|zones?-d-intervention)(?:$|[/_.-])",
    re.IGNORECASE,
)
_PLACES: Final = small_pattern(
    r"\b(?:service areas?|areas? (?:we |of )?serve|areas served|cities we|towns we|we (?:also )?serve|serving|where we work|"
    r"einzugsgebiet|einsatzgebiet|orte in|zones? d.intervention|secteurs?|zone servite|zonas|obszar|werkgebied|locations served)\b"
)
_FILLER: Final = re.compile(
    r"lorem ipsum|dolor sit amet|consectetur adipi|duis aute|sunt in culpa|ut enim ad minim|"
    r"excepteur sint|sed do eiusmod|vestibulum|pellentesque|nullam (?:id|quis)|curabitur|"
    r"behind the word mountains|bookmarksgrove|blind texts?|li europan lingues|"
    r"(?:short|brief) bio (?:of|about) (?:this|the|your)|describe (?:this|your) (?:team|staff)|"
    r"your (?:text|content) (?:here|goes)|placeholder text|blindtext|tu texto aquí|"
    r"votre texte ici|hier steht (?:ihr|dein) text",
    re.IGNORECASE,
)
# One of these is in every text the pattern finds, and looked for ten times as fast.
_FILLER_SIGNS: Final = (
    "lorem", "dolor sit", "consectetur", "duis aute", "sunt in", "ut enim", "excepteur",
    "sed do", "vestibulum", "pellentesque", "nullam", "curabitur", "behind the word",
    "bookmarksgrove", "blind text", "li europan", "your text ", "your content ",
    "placeholder text", "blindtext",
    "tu texto", "votre texte", "hier steht", "short bio", "brief bio", "describe ",
)  # fmt: skip
_OUTSIDERS: Final = small_pattern(
    r"\b(?:referen[cztsj]\w*|client(?:s|e|i|es|el\w*)?\b|customers?|kunden|klient\w*|zákazní\w*|asiakka\w*|"
    r"kundere\w*|partner(?:s|i|ek|ji|eink|zy|re|er)?\b|partenaires?|parceiros|socios|sponsor\w*|donors?|donat\w+|"
    r"spender\w*|förderer|supporters?|unterstützer|mécènes|darczyńcy|friends|freunde|suppliers?|lieferanten|fournisseurs|"
    r"fornitori|proveedores|dodavatel\w*|leveranciers|vendors?|brands?|marken|marques|marche|marcas|merken|"
    r"affiliat\w+|useful (?:links|contacts|numbers)|links|nützliche\w*|liens utiles|"
    r"publications?|publikationen|veröffentlichungen|books?(?! (?:now|online|an?|your|us)\b)|bücher|livres|libri|bibliograph\w*|literatur\w*|"
    r"guest\w*|speakers?|referenten|lecturers?|dozenten|relatori|intervenants|artists?|"
    r"courses?|kurs\w*|szkoleni\w*|corsi|formations?|cursos?|seminar\w*|workshops?|education|ausbildung|"
    r"fortbildung\w*|weiterbildung\w*|koulutus|képzés\w*|vzdělání|wykształcenie|formazione|formación|"
    r"awards?|presse|press|in the media|history|geschichte|chronik|histoire|storia|historia|historie|historik)\b"
)
_OUTSIDER_PATH: Final = re.compile(
    r"referen[czt]|client|customer|kunden|partner(?!s-at)|sponsor|donor|supplier|vendor|lieferant|brand|"
    r"affiliat|links?\b|publication|books?\b|speaker|course|kurs|seminar|workshop|award|(?<!im)press|media|"
    r"history|geschichte|histoire|storia|historia",
    re.IGNORECASE,
)
# What was done for others, and who is recommended.
_WORKS: Final = (
    r"lavori (?:svolti|eseguiti|realizzati)|realizzazioni|realizacje|realizace|réalisations|(?:our|completed|selected|past) projects|"
    r"(?:unsere|abgeschlossene) projekte|onze projecten|nuestros proyectos|obras realizadas|munkáink|referenciáink|referenssit|"
    r"polecan\w+|recommended (?:vendors|suppliers|services|businesses)|preferred (?:vendors|suppliers)|doporučujeme|suosittelemme"
)
# Customers: as a whole heading, or as "ours"; "For clients" heads what is said to them.
_CUSTOMERS: Final = (
    r"clients?|customers|kunden|auftraggeber|clienti|clientes|klanten|opdrachtgevers|kunder|asiakkaat|asiakkaita|klienci|"
    r"zákazníci|klienti|ügyfelek|clienți|klijenti|kupci|stranke"
)
_OUR_CUSTOMERS: Final = (
    rf"^(?:{_CUSTOMERS})\W*$|\b(?:our|some of our|unsere|nos|(?:i )?nostri|nuestros|(?:os )?nossos|onze|våra|vores|våre|nasi|naši|naše) "
    rf"(?:{_CUSTOMERS})\b|\b(?:client|customer) (?:list|references)\b|\b(?:kundenliste|asiakkaamme|ügyfeleink|clienții noștri|zaufali nam)\b"
)
# Who sells to the business, recommends it or is recommended by it.
_DEALERS: Final = (
    r"referen(?:ces|zen|ze|cias|cje|ce|ser|cer|cie|ties|tie)\b|références|referências|referanser|referenssi\w*|referenciá\w*|"
    r"sponsor(?:en|s|i|zy|er|it|eri)?\b|sponzoři|suppliers|lieferanten|fournisseurs|fornitori|proveedores|fornecedores|dodavatelé|"
    r"dodávatelia|dostawcy|leveranciers|leverantör\w*|leverandør\w*|(?:tavaran)?toimittaja(?:t|mme)\b|beszállító\w*|furnizori\w*|"
    r"dobavljači|dobavitelji|vendors|affiliat\w+|stockists|wholesalers|(?<!authori[sz]ed )dealers|händler(?!login)|revendeurs|rivenditori|"
    r"distribuidores|revendedores|återförsäljare|forhandler\w*|jälleenmyyj\w*|dystrybutorzy|prodejci|predajcovia|viszonteladó\w*|"
    r"useful (?:contacts|numbers|addresses|phone)|nützliche (?:adressen|nummern)|wichtige (?:rufnummern|telefonnummern|adressen)|"
    r"(?:numéros|adresses|contacts) utiles|numeri utili|(?:teléfonos|números|direcciones) (?:de interés|útiles)|"
    r"(?:contactos|números|telefones) úteis|nuttige (?:adressen|nummers)|nyttiga (?:adresser|nummer)|nyttige (?:adresser|numre|numre)|"
    r"(?:przydatne|ważne) (?:telefony|numery|adresy)|(?:užitečné|důležité|užitočné|dôležité) (?:kontakty|telefony|čísl[ai])|"
    r"hasznos (?:telefonszámok|címek)|telefoane utile|korisni (?:kontakti|brojevi)|"
    r"insurance (?:carriers|companies|providers|plans|partners)|claims? (?:phone )?(?:numbers?|contacts)|"
    r"(?:area|local|nearby) (?:schools|hospitals|hotels|attractions|restaurants|utilities|government|contacts|numbers|businesses)|"
    r"(?:specialists|doctors|providers|colleagues|professionals|businesses|companies|people) we (?:refer|recommend|trust|like|love)|"
    r"referral (?:list|network|partners)|(?:where we play|venues|gigs|tour dates|konzerttermine)\b"
)
# Partners may be the business's own people, links and resources its own pages.
_OTHER_FIRMS: Final = small_pattern(
    rf"\b(?:{_WORKS}|{_DEALERS}|our (?:partners)|partners?|partner(?:i|ek|ji|eink|zy|re|betriebe|firmen)|partneři|"
    r"partenaires|parceiros|parteneri\w*|socios|kooperationspartner|netzwerkpartner|samarbetspartner\w*|samarbejdspartner\w*|"
    r"samarbeidspartner\w*|(?:yhteistyö)?kumppani(?:t|mme)|samenwerking\w*|convenzioni|spolupracujeme|"
    r"useful links|links|länkar|lenker|linkit|odkazy|linkuri utile|hasznos linkek|"
    r"nützliche links|liens utiles|link utili|enlaces|przydatne|užitečné|"
    r"insurers?|insurance (?:partners|companies|providers|carriers)|accepted insurances?|(?:lending|finance|financing) partners?|"
    r"charities|versicherungspartner|assureurs|mutuelles|assicurazioni convenzionate|aseguradoras|mutuas|seguradoras|"
    r"verzekeraars|försäkringsbolag|forsikringsselskaber|vakuutusyhtiöt|ubezpieczyciele|pojišťovny|poisťovne|biztosítók|"
    r"other (?:services|organi[sz]ations|agencies)|local (?:services|resources)|resources|utilities|"
    rf"where to buy|bezugsquellen|verkooppunten|points? de vente|punti vendita|puntos de venta)\b|{_OUR_CUSTOMERS}"
)
_VENDORS: Final = small_pattern(rf"\b(?:{_WORKS}|{_DEALERS})\b|{_OUR_CUSTOMERS}")
_OTHER_FIRM_PATH: Final = re.compile(
    r"(?:^|[/_-])(?:referen(?:ces?|zen|ze|cias|cje)|partners?|partner(?:i|ek|zy|re)|partenaires|parceiros|sponsors?|"
    r"suppliers?|vendors?|lieferanten|fournisseurs|fornitori|affiliat\w*|useful-\w+|links|liens|resources|"
    r"lavori-\w+|realizzazioni|realisations?|realizacje|realizace|projects|projekte|projecten|obras|polecan\w+|"
    r"recommended(?:-\w+)?|preferred-\w+|doporucujeme|munkaink|referenciak?|referenssit|"
    r"stockists|dealers|haendler|clients|kunden|klanten|clienti|clientes|klienci|kunder|customers|asiakkaat|zakaznici|"
    r"referenties|referenser|referencer|referanser|referencie|referencia|leveranciers|leverantorer|leverandorer|"
    r"dodavatele|dostawcy|beszallitok|forhandlere|aterforsaljare|jalleenmyyjat|yhteistyokumppanit|samarbetspartners|"
    r"samarbejdspartnere|samarbeidspartnere|partnereink|numeri-utili|telefonos-de-interes)(?:$|[/_.-])",
    re.IGNORECASE,
)
_COURSE: Final = small_pattern(
    r"\b(?:courses?|kurs\w*|szkoleni\w*|warsztat\w*|corso|corsi|formations? |curso|cursos|seminar\w*|workshops?|"
    r"congress|kongress\w*|konferenc\w*|conference|certificat\w*|certyfikat\w*|diplom[ae]?\b|degree|"
    r"fortbildung\w*|weiterbildung\w*|ausbildung|tanfolyam\w*|képzés\w*|koulutu\w*|školení|kurzy?|"
    r"curricul\w+|assistenzzeit|promotion (?:bei|an)|hospitation\w*|famulatur|tirocinio|"
    r"studied (?:with|under)|(?:trained|taught|mentored) (?:with|under|by)|clerked for|apprenticed (?:to|with|under)|opleiding\w*|cursus\w*|"
    r"utbild\w+ (?:av|hos|för)|uddannet (?:hos|af)|utdannet (?:hos|av)|pod patronatem|aplikacj[aęi]|patronat\w*|allievo di|allieva di|"
    r"aprend[íi] (?:\w+ ){0,3}con|(?:élève|disciple) de|formée? (?:par|chez|auprès)|gelernt bei|lehre bei|žák\w* |tanítvány\w*|bei prof|lecturer|dozent\w*|instruktor\w*|wykładowca)\b"
)
_FORMER: Final = small_pattern(
    r"\bin memor(?:iam|ium|y)\b|\b(?:1[89]\d\d|20[0-2]\d)\s?[-–]\s?(?:19|20)\d\d\b|†|\b(?:the late|retired in|has retired|"
    r"former(?:ly)?|ehemalig\w*|früher\w*|ancien(?:ne)?s?|"
    r"predecessor|vorgänger\w*|übernahm|took over from|purchased from|succeeded|bývalý|entinen|"
    r"tidigare|tidligere|voormalig\w*|ex[- ])"
)
_RELATIVE: Final = small_pattern(
    r"\b(?:married to|wife|husband|spouse|sons?|daughters?|child(?:ren)?|brothers?|sisters?|father|mother|parents|"
    r"grand\w+|uncle|aunt|cousin|verheiratet mit|ehe(?:frau|mann)|sohn|tochter|töchter|söhne|vater|mutter|eltern|"
    r"épouse|mari|fils|fille|père|mère|moglie|marito|figli[oa]?|padre|madre|esposa|hij[oa]s?|żona|mąż|syn|córka|"
    r"manžel\w*|dcera|fru|hustru|vaimo|mentors?|named after|in honou?r of|dedicated to|inspired by|worked (?:for|with)|"
    r"taught by|patients?|clients?|customers?|students? of|thanks to|written by|illustrated by|translated by|"
    r"committente|bauherr\w*|auftraggeber|inwestor|investor|maître d['’]ouvrage|opdrachtgever|speakers?|relator[ei]|relatrice|"
    r"ponentes?|spreker|prelegent\w*|(?:talk|interview|chat|evening) with|talk by|"
    r"book by|music by|story by|novel by|lyrics by)[^\w.!?]{1,3}(?:[\w'’]{1,14}[^\w.!?]{1,2}){0,3}"
    r"(?:(?:prof|dr|med|dent|dott|ing|geom|arch|avv|mgr|mrs?|ms)\.(?:ssa)?\s?){0,3}$"
)
