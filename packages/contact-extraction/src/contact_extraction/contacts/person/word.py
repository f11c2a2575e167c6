"""The words that make, end or rule out a name."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from contact_extraction import wordlist
from contact_extraction.html import words

UPPER: Final = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĘĚĞĢĪĮİĶŁĹĻŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽȘȚ"
WORD: Final = rf"(?:[dl]['’])?[{UPPER}](?:[\w'’-]{{1,20}}|\.(?:[{UPPER}]\.){{0,3}}(?= ?[{UPPER}])|(?= [{UPPER}]))"
PARTICLE: Final = r"(?:van|von|de|der|den|da|di|do|dos|del|della|la|le|du|zu|af|av|ap|bin|al|ten|ter|op|['’]t|y|e)"
HONORIFIC: Final = words(
    "dr dr. prof prof. mr mr. mrs mrs. ms ms. miss herr frau hr hr. fr. mag mag. ra ing "
    "ing. dott dott. dott.ssa avv avv. sr sr. sra sra. srta mme mlle m. rev rev. reverend "
    "sir lady hon hon. dipl.-ing dipl.-ing. rechtsanwalt rechtsanwältin doc. mgr mgr. judr "
    "mudr mvdr bc bc. ir ir. drs drs. dhr dhr. mevr mevr. maître me doctor professor "
    "captain pastor father señor señora doña hll ell ehl eht hl ll el otk ktm otm lkt vt adw adw. rain wp stb "
    "revd revd. cllr cllr. imam mw mw. mevrouw meneer"
)
AMBIGUOUS: Final = words(
    "will mark may april june august grace hope rose faith joy dallas austin chase jordan "
    "georgia virginia carolina florence victoria charlotte madison savannah lincoln "
    "jackson houston art bill rich gene sunny dean chester lee van grant brook brooke dale "
    "glen clay cliff rusty woody pat earl drew max ray sydney paris chelsea devon kent "
    "clinton carson carter mason hunter tucker taylor harvey dot opal pearl ruby amber "
    "ginger heather iris ivy jade jasmine lily olive violet summer autumn dawn eve star "
    "angel christian domingo santiago leon diego francisco antonio angeles rosa cruz bo "
    "guy rob skip ada min long yong young hong li mei lan gal beat love ali noor do page "
    "sterling price miles reed baker forrest wade stone spencer preston franklin marina "
    "melody crystal destiny harmony sierra dakota phoenix holly misty sandy dolly penny "
    "jack terry kim tommy tracy aurora luz paloma soledad consuelo mercedes regina major "
    "sara della gloria lorena luna alba nova vera bailey"
)
HARD: Final = words(
    "street st. st avenue ave ave. road rd rd. drive dr lane boulevard blvd way court place "
    "parkway highway square university college school academy institute hospital clinic "
    "center centre museum library church cathedral park county airport station hall tower "
    "building house hotel inn lodge suites restaurant cafe bar grill pizza pizzeria bakery "
    "inc inc. llc ltd ltd. limited corp corp. corporation company co co. gmbh ag & group "
    "holdings associates foundation association society trust fund bank insurance "
    "securities records music band orchestra realty estate homes properties construction "
    "builders roofing plumbing furniture design designs studio studios gallery media "
    "press news times post journal magazine books shop store market mall plaza products "
    "services solutions systems technologies technology industries international "
    "enterprises consulting partners motors auto automotive dental dentistry dermatology "
    "medical veterinary animal law legal award awards prize cup league club team stadium "
    "arena theatre theater festival day week month year beach island lake river mountain "
    "valley hills heights springs creek bay harbor harbour city town village township "
    "state republic kingdom states collection series edition model dress shirt jeans shoes "
    "straße strasse platz weg allee straat laan plein gatan road's blvd. circle box pricing "
    "pkwy fwy hwy ln trail terrace complex industrial "
    "atelier plomberie menuiserie garage boulangerie boucherie pharmacie cabinet étude coiffure "
    "tischlerei schreinerei malerbetrieb bäckerei metzgerei autohaus praxis zahnarztpraxis kanzlei "
    "physiotherapie gärtnerei elektro officina farmacia studio salon ristorante trattoria idraulica "
    "falegnameria taller clínica clinica ferretería peluquería restaurante panadería asesoría "
    "loodgietersbedrijf bakkerij kapsalon tandartspraktijk praktijk bouwbedrijf schildersbedrijf "
    "zakład gabinet apteka restauracja usługi firma autoszerviz fogászat frizörsalong tandläkarna "
    "elfirman bilverkstad rörjour klinik klinikken kampaamo autokorjaamo hammaslääkäriasema "
    "canalizações oficina padaria farmácia ordinacija "
    "universität hochschule schule klinik klinikum krankenhaus institut akademie stiftung "
    "verein verlag université école hôpital clinique institut académie association "
    "università scuola ospedale istituto accademia associazione universidad escuela hospital "
    "instituto fundación universiteit ziekenhuis stichting uniwersytet szpital fundacja "
    "universitet sjukhus sykehus yliopisto"
)
# Words of places that are surnames too, where a role or a title indicates a person.
SURNAMES: Final = words("park hall lane day law lake church house post way bay lodge")
SOFT: Final = words(
    "the a an and or of for to in on at by with from is was are has have had will can may "
    "your our my we you he she it they his her its their this that these those here there "
    "contact call email e-mail phone tel fax mobile cell office home about us more read "
    "click view visit join follow today now new free all welcome copyright rights reserved "
    "privacy policy terms sitemap menu search login cart news blog january february march "
    "april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday mon tue wed thu fri sat sun feb mar apr jun jul "
    "aug sep sept oct nov dec president director manager owner founder ceo cfo coo cto "
    "chairman vice senior junior executive assistant associate attorney principal "
    "secretary treasurer coordinator partner broker agent designer engineer consultant "
    "general managing chief head sales marketing customer service account project office "
    "licensed certified registered independent team member members board staff photo image "
    "am pm north south east west usa uk texas california florida york london paris berlin "
    "said says writes wrote posted posts reply report share like tweet what when where why "
    "how who no not yes but if so as be do does did get got go see make made kontakt "
    "telefon mobil adresse geschäftsführer inhaber inhaberin impressum herr frau und oder "
    "der die das vom zum zur für mit von iva tva btw ust cif nif nip siret siren kvk "
    "hi hello hey i'm i’m meet ask give text thank thanks dear with since reach fragen bei ich "
    "mein meine unser unsere ihr ihre liebe lieber je moi avec chez notre votre merci con io sono "
    "mi soy nuestro nuestra gracias ik met mijn onze uw jag mitt vår jeg vores mit olen "
    "book booking bio profile learn schedule mehr erfahren weiterlesen profil termin buchen lire voir leer leggi lees vcard appelez contactez demandez llame llámanos llama chiama chiamate contatta contatti rufen zadzwoń volejte ring bel mail pro tem"
)
DEGREES: Final = words(
    "MD DDS DMD DVM DO DC OD RN PhD CPA Esq JD BSc MSc BDS BVSc LLB MCSP MRCVS Hons RDH MFDS BVetMed LLM MBA MRICS FRICS "
    "LCSW LMFT LMT DPT FNP MBBS MBChB MChiro"
)
NOT_NAMES: Final = words(
    "desk counter front parts drive claims dispatch finance warehouse showroom enquiries inquiries bookings "
    "reservations emergency switchboard helpline kitchen admissions salad soup pizza chicken beef steak "
    "burger pasta sauce cake blouse chair table dress sofa "
    "overview information application portfolio contacts customers card cards info chart "
    "address works details online page pages links articles resources gallery events "
    "hours directions map locations location reviews review guide tips faq quote request "
    "form video videos photos pictures payment payments shipping delivery returns order "
    "orders account register history mission vision values story careers jobs job "
    "support help center corporate headquarters sales department departments division "
    "branch main toll number line hotline reception billing technical general mailing "
    "shipping physical postal international customer relations human quality health "
    "safety security privacy media public investor internet social network networks"
)
# Given names that double as words, yet alone on a line are nearly always people.
RARELY: Final = words(
    "bill mark rob guy pat drew ray max dale glen lee kim terry tracy jack tommy"
)


@cache
def given_names() -> frozenset[str]:
    """Give common given names of many languages, folded."""
    return wordlist.load_words("given_names")


def is_given(word: str) -> bool:
    """Say whether a word is a given name, or a double one that begins with one."""
    folded = word.casefold()
    return folded in given_names() or (
        "-" in folded and folded.partition("-")[0] in given_names()
    )


def is_turned(words: Sequence[str]) -> bool:
    """Say whether a given name stands last and nothing but a surname before it."""
    last = words[-1].casefold()
    return (
        len(words) > 1
        and last in given_names()
        and last not in AMBIGUOUS
        and not is_given(words[0].strip("."))
        and len(words[0].strip(".")) > 1
    )
