"""What the columns of other people's tables mean, in several languages."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from contact_extraction.text import compact

ALIASES: Mapping[str, str] = {
    "id": "id place_id source_place_id external_id google_place_id osm_id gers_id "
    "record_id",
    "name": "name business_name company company_name business title firma firmenname "
    "unternehmen nombre empresa razon_social nom entreprise societe ragione_sociale "
    "azienda nome organization organisation org account account_name display_name "
    "bedrijf naam",
    "website": "website url web homepage home_page site domain website_uri website_url "
    "web_site company_domain company_website webseite internet sitio_web siteweb "
    "site_web sito sito_web web_address websites",
    "phone": "phone phone_number phones telephone tel telefon telefonnummer telefono "
    "telefone mobile mobil cell contact_phone international_phone_number "
    "national_phone_number business_phone telefoon",
    "email": "email emails e_mail mail email_address correo correo_electronico "
    "contact_email business_email",
    "person": "person contact contact_name contact_person ansprechpartner "
    "ansprechpartnerin kontaktperson kontakt contacto persona_de_contacto "
    "persona_di_contatto interlocuteur decision_maker contactpersoon",
    "first_name": "first_name firstname given_name vorname prenom nombre_de_pila voornaam",
    "last_name": "last_name lastname surname family_name nachname nom_de_famille "
    "apellido apellidos cognome achternaam",
    "role": "role job_title jobtitle position funktion rolle fonction puesto cargo ruolo "
    "functie",
    "address": "address full_address formatted_address adresse anschrift direccion "
    "indirizzo endereco adres location_address",
    "street": "street street_address address1 address_1 address_line_1 strasse str "
    "calle rue via straat addr_street",
    "house_number": "house_number housenumber hausnummer street_number addr_housenumber",
    "city": "city town locality ort stadt ciudad ville citta cidade municipality plaats "
    "addr_city",
    "region": "region state province county bundesland provincia departement estado "
    "addr_state administrative_area",
    "postal_code": "postal_code postcode zip zip_code zipcode plz cp code_postal "
    "codigo_postal cap cep addr_postcode",
    "country": "country country_code land pais pays paese addr_country",
    "latitude": "latitude lat y geo_lat location_lat breitengrad",
    "longitude": "longitude lng lon long x geo_lng geo_lon location_lng langengrad",
    "rating": "rating stars average_rating avg_rating bewertung total_score",
    "reviews": "reviews review_count reviews_count user_rating_count "
    "user_ratings_total rating_count number_of_reviews",
    "price_level": "price_level price price_range",
    "categories": "category categories type types kind kategorie business_type "
    "industry branche sector categoria categorie category_name main_category",
    "status": "business_status operating_status open_status",
    "hours": "hours opening_hours open_hours business_hours offnungszeiten horario",
    "facebook": "facebook facebook_url contact_facebook",
    "instagram": "instagram instagram_url contact_instagram",
    "linkedin": "linkedin linkedin_url contact_linkedin",
    "twitter": "twitter twitter_url x_url contact_twitter",
    "youtube": "youtube youtube_url contact_youtube",
    "tiktok": "tiktok tiktok_url contact_tiktok",
    "socials": "socials social_links links",
}
MEANINGS: Mapping[str, str] = {
    alias.replace("_", ""): meaning
    for meaning, aliases in ALIASES.items()
    for alias in aliases.split()
}
OWN_FIELD = "own."
"""What the field of a column begins with that goes into one of the tenant's own."""
NETWORKS = ("facebook", "instagram", "linkedin", "twitter", "youtube", "tiktok")


@lru_cache(maxsize=4096)
def meaning_of(header: str) -> str | None:
    """Return what a column holds, by its name; None if we have no use for it."""
    return MEANINGS.get(compact(header))


def meanings_of(headers: Sequence[str]) -> dict[int, str]:
    """Return the meaning of each column that has one; the first of a kind wins."""
    found: dict[int, str] = {}
    for index, header in enumerate(headers):
        meaning = meaning_of(header)
        if meaning is not None and meaning not in found.values():
            found[index] = meaning
    return found
