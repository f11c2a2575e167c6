"""What stands beside a street: suites, floors, buildings, estates."""

import re
from typing import Final

from contact_extraction.contacts.address.box import BOX


def is_part(text: str) -> bool:
    """Say whether a line is one of those between a firm's name and its city."""
    if not 5 < len(text) <= 60 or (not text[:1].isupper() and not text[:1].isdigit()):
        return False
    if (
        not _PART.search(text)
        or NOT_ADDRESS.search(text)
        or LEGAL_PREFIX.match(f"{text} ")
    ):
        return False
    return any(c.isdigit() for c in text) or bool(_BUILDING_PIECE.match(text))


def is_unit(text: str) -> bool:
    """Say whether a text is a suite, a floor, a building or a box."""
    if not 1 < len(text) <= 60:
        return False
    return bool(
        UNIT.match(text)
        or _BUILDING_PIECE.match(text)
        or _SITE_PIECE.match(text)
        or BOX.fullmatch(text.rstrip(" ,."))
    )


UNIT_WORD: Final = (
    r"Suites?|Ste|Units?|Apartment|Apt|Floor|Flr|Fl|Room|Rm|Bldg|Building|Block|Level|"
    r"Lot|Space|Office|Studio|Shop|Flat|Bay|Box|Dept|Door|Kiosk|Tower|Wing|Gate|Plot|"
    r"Sector|Section|Phase|Stop|Mailstop|Mail\s(?:Code|Stop)|MS|Attn|Basement"
)
UNIT_TAIL: Final = (
    rf"(?:[ ,–-]{{1,3}}(?:(?:{UNIT_WORD})\b\.?(?:\s?(?:No\.?|Number|#))?\s?#?\s?[\w-]{{1,8}}"
    rf"(?:\s(?:North|South|East|West)(?!\w))?"
    rf"|\#\s?[\w-]{{1,8}}"
    r"|\d{1,3}(?:st|nd|rd|th)\s(?:Floor|Fl\b\.?)"
    r"|(?:Ground|First|Second|Third|Lower|Upper|Top)\sFloor"
    r"|P\.?\s?O\.?\s?Box\s\d{1,6}))"
)
# "Office Location" above a street is a label, "Office Park 3" a place.
_LABEL: Final = (
    r"(?!\s?(?:locations?|address(?:es)?|hours|details|manager|contacts?)\b)"
)
# Floors, stairs and doors as other languages than English write them.
_FLOOR: Final = (
    r"(?:\d{1,2}|[IVX]{1,4})\.?\s?(?:OG|UG|DG|Stock(?:werk)?|Etage|Obergeschoss|NP|patro|poschodie|emelet|em|krs|kerros|sal|etasje|etg|tv|th|mf|"
    r"tr|trp|trappor|étage|piętro|p)\b\.?(?:,?\s(?:tv|th|mf|lejl|links|rechts|mitte|li|re|vorne?|hinten|[a-z]?\s?\d{1,4})\.?)?"
    r"|kld\.?|kælder(?:en)?|(?:st|kl)\.?,?\s(?:tv|th|mf)\.?|fszt\.?(?:\s\d{1,3})?\.?|(?:BP|B\.P\.|CS)\s?\d{2,6}|(?:CP|Case postale|Casella postale|Postfach)\s?\d{2,4}(?!\d)|č\.?\s?p\.?\s?\d{1,4}"
    r"|(?:\d{1,2}\s?(?:er|e|ème|º|ª|°|\.º)\.?\s?(?:étage|verdieping|piano|planta|piso|andar|izq(?:uierda)?|d(?:e?r)?cha|dcho|dto|esq|"
    r"puerta|[A-Z]|\d{1,2}ª)\b\.?(?:\s[\w.º]{1,6})?)"
    r"|(?:Erdgeschoss|EG|Hochparterre|Parterre|rez-de-chaussée|RDC|planta baja|bajos?|entresuelo|entlo|ático|piano terra|stueen|"
    r"přízemí|prízemie|földszint|parter|katutaso|bel-etage)\.?"
    r"|(?:km|RD|R\.D\.)\s?\d{1,3}(?:[.,]\d{1,3})?"
    r"|(?:Top|Stiege|Tür|Haus|Aufgang|bâtiment|bât|porte|appt?|appartement|escalier|esc|bureau|local|piso|planta|oficina|puerta|pta|despacho|"
    r"piano|interno|int|scala|vån|plan|lgh|bus|lok|lokal|m|piętro|pok|kl|sala|loja|nave|conj|conjunto|andar|bloco|bloque|et|etaj|ap|bl|sc|corp|"
    r"camera|fsz|ajtó|korpus|vchod|budova|objekt|blok|areál|hala|bte|boîte|indgang|oppgang|ingång|inngang|kat|daire|лит|стр|корп|оф)\b\.?\s?(?:n[r°º]\.?\s?)?(?:\d{1,4}\s?[a-zA-Z]?|[A-Z]\d{0,3}|[IVX]{1,4})(?:\s?[-/]\s?\w{1,4})?"
)
UNIT: Final = re.compile(
    rf"^(?:{_FLOOR}|(?:{UNIT_WORD})\b{_LABEL}\.?:?\s?(?:No\.?\s?)?\#?\s?[\w&-]{{1,14}}(?:\s?[-&]\s?\w{{1,4}})?"
    rf"(?:,?\s(?:{UNIT_WORD})\b\.?\s?\#?[\w-]{{1,8}}){{0,2}}(?:,?\s[A-Z]\w{{2,20}}){{0,3}}"
    r"|(?:Eingang|Zugang|Zufahrt|Entrance|Entrée|Ingresso|Entrada|Ingång|Indgang|Inngang|Ingang|Wejście|Vchod)\s.{2,40}"
    r"|\#\s?[\w-]{1,8}|\d{1,3}(?:st|nd|rd|th)\s(?:Floor|Fl\b\.?).{0,20}|\d{1,2}/F\b.{0,30}"
    r"|(?:Ground|First|Second|Third|Lower|Upper|Top)\sFloor.{0,30}|No\.?\s?\d{1,5}\w?)$",
    re.IGNORECASE,
)
UNIT_HEAD: Final = re.compile(
    rf"^((?:(?:{UNIT_WORD})\b\.?\s?\#?[\w-]{{0,5}}\d[\w-]{{0,5}}|\#\s?[\w-]{{1,8}}))[\s,]{{1,2}}(\D.{{2,60}})$"
)
_BUILDING_PIECE: Final = re.compile(
    r"^(?:[\w'’.&-]{1,24}\s){0,5}(?:House|Building|Bldg\.?|Buildings|Centre|Center|Tower|"
    r"Towers|Plaza|Park|Mall|Court|Works|Estate|Chambers|Mansions?|Complex|Hall|Mill|"
    r"Campus|gård|Gård|gods|herrgård|[Ss]äteri|tila|[Kk]artano|talu|mõis|majatalo|Wing|Arcade|Gardens|Barn|Farm|Cottage|Dairy|Grange|Manor|Rectory|Vicarage|Stables|Granary|Forge|Farmhouse|"
    r"Studios?|Wharf|Yard|Crossing|City|Industrial\s"
    r"\w{3,12}|Business\s\w{3,10}|Trading\s\w{3,8}|Village|Haus|Hof|Zentrum|Gebäude)\.?"
    r"(?:\s(?:\d{1,4}[A-Z]?|[A-Z]))?$"
)
# Hamlets, estates and shopping centres of other languages, which stand for a street.
_SITE_PIECE: Final = re.compile(
    r"^(?:Lieu[- ]?dit|Hameau|(?:Le|Au) (?:Bourg|Village)$|Z\.?\s?[AIC]\.?(?:\s?[CE]\.?)?\s|(?i:Zone (?:artisanale|industrielle|"
    r"commerciale|d['’]activité))|Parc d['’]activité|Centre commercial|Galerie (?:commerciale|marchande)|Domaine d|"
    r"Pol(?:\.|[íi]gono) Ind|Parque (?:Empresarial|Tecnol|Comercial)|Centro Com|C\.C\.\s|Urb(?:\.|anizaci[óo]n)\s|Finca\s|"
    r"Cortijo\s|Caser[íi]o\s|Quinta d|Edif[íi]cio\s|Herdade d|Zona (?:Ind|Art|Com)|Loc(?:\.|alit[àa])\s|Fraz(?:\.|ione)\s|"
    r"Contrada\s|Borg(?:o|ata?)\s|Podere\s|Tenuta\s|Cascina\s|Masseria\s|Fattoria\s|Mas\s|Masia\s|Mas[íi]a\s|Ferme d|Ch[âa]teau\s|"
    r"Manoir d|Moulin d|Clos d|Hacienda\s|Pazo d|Monte d|Casal d|Hofgut\s|Rittergut\s|Gutshof\s|Landgut\s|Landgoed\s|Hoeve\s|"
    r"Boerderij\s|Gewerbe(?:park|gebiet)|Industrie(?:park|gebiet|terrein)|Bedrijven(?:park|terrein)|Gut\s|Schloss\s)"
    r"[\w'’ .,/&ºª°À-ž-]{0,50}$|^[A-ZÅÄÖÆØ]\w{2,20}g(?:å|aa)rd(?:en)?$"
)
SURE_PART: Final = re.compile(r"\b(?:Floor|Building|Bldg|Tower|Complex|Plot)\b")
# Houses that are known as who is in them, not as where they stand.
PUBLIC_HOUSE: Final = re.compile(
    r"\b(?:(?:City|Town) Hall|(?:Community|Medical|Health|Sciences|Visitors?|Civic|Senior|Arts|"
    r"Recreation|Convention|Welcome) Cent(?:er|re)|University|College|School)\b"
)
_PART: Final = re.compile(
    r"\b(?:Floor|Building|Bldg|Tower|Complex|Block|Zone|Villa|Plot|Sector|Flat|"
    r"P\.?\s?O\.?\s?Box|Post Box|Industrial Area|Business Park|Estate)\b"
)
LEGAL_PREFIX: Final = re.compile(
    r"^.{0,40}\b(?:B\.?V\.?|N\.?V\.?|GmbH|AG|KG|OHG|UG|A/S|ApS|AB|AS|Oy|S\.?A\.?|"
    r"S\.?L\.?|S\.?r\.?l\.?|SARL|Ltd|Inc|LLC|s\.r\.o)\b\.?\s"
)
NOT_ADDRESS: Final = re.compile(
    r"(?:tel|fax|phone|e-?mail|www\.|https?:|@|©|copyright|\bopen|hours|click|map|"
    r"directions|monday|\bmon\b|call)",
    re.IGNORECASE,
)
