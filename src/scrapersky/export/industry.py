"""What sources call a business, as the lists of industries of CRMs have it.

A CRM refuses or adds whatever its list does not have, so a category that fits none stays empty;
the category itself stands beside it in words.
"""

from collections.abc import Mapping, Sequence
from typing import Final

SECTORS: Final[Mapping[str, tuple[str, str, str]]] = {
    "health": ("Hospital & Health Care", "Healthcare",
               ("dentist doctors doctor clinic hospital pharmacy physiotherapist optician"
               " health medical nursing therapist alternative healthcare orthodontist")),
    "animals": ("Veterinary", "Healthcare", "veterinary"),
    "food": ("Restaurants", "Food & Beverage",
             "restaurant cafe bar pub fast_food biergarten ice_cream food_court"),
    "groceries": ("Food & Beverages", "Food & Beverage",
                  ("bakery butcher pastry confectionery deli brewery winery wine coffee"
                  " beverages greengrocer")),
    "cars": ("Automotive", "Transportation",
             "car car_repair car_parts car_wash tyres motorcycle driving_school fuel"),
    "stays": ("Hospitality", "Hospitality",
              "hotel motel hostel guest_house apartment chalet camp_site lodging resort"),
    "law": ("Law Practice", "Consulting", "lawyer notary legal attorney"),
    "books": ("Accounting", "Finance", "accountant tax_advisor accounting"),
    "insurance": ("Insurance", "Insurance", "insurance insurance_agency"),
    "money": ("Financial Services", "Banking", "bank financial financial_advisor atm"),
    "homes": ("Real Estate", "Other", "estate_agent real_estate_agency property_management"),
    "building": ("Construction", "Construction",
                 ("electrician plumber carpenter painter roofer builder hvac tiler plasterer"
                 " glaziery stonemason scaffolder construction craft general_contractor"
                 " window_construction gardener joiner chimney_sweeper metal_construction")),
    "beauty": ("Cosmetics", "Retail",
               "hairdresser beauty cosmetics nails tattoo massage barber spa beauty_salon"),
    "fitness": ("Health, Wellness & Fitness", "Recreation",
                "fitness_centre gym sports_centre yoga dance swimming_pool"),
    "teaching": ("Primary/Secondary Education", "Education",
                 "school kindergarten university college music_school language_school"),
    "travel": ("Leisure, Travel & Tourism", "Recreation", "travel_agency tourism museum"),
    "pictures": ("Photography", "Media", "photographer photo photo_studio"),
    "design": ("Architecture & Planning", "Engineering", "architect engineer surveyor"),
    "software": ("Computer Software", "Technology", "it software computer web_design"),
    "shops": ("Retail", "Retail",
              ("shop supermarket clothes shoes florist furniture electronics bicycle books"
              " hardware doityourself jewelry toys gift mobile_phone convenience store")),
}  # fmt: skip
"""For each sector the industry of HubSpot, of Salesforce, and the categories in it."""
BY_CATEGORY: Final[Mapping[str, tuple[str, str]]] = {
    category: (hubspot, salesforce)
    for hubspot, salesforce, categories in SECTORS.values()
    for category in categories.split()
}
HUBSPOT_COLUMN, SALESFORCE_COLUMN = 0, 1


def industry_of(categories: Sequence[str] | None, crm: int) -> str | None:
    """Return the industry of a CRM that the first known category is of."""
    for category in categories or ():
        if (found := BY_CATEGORY.get(code_of(category))) is not None:
            return found[crm]
    return None


def category_of(categories: Sequence[str] | None) -> str | None:
    """Return the categories as people read them."""
    return ", ".join(map(words_of, categories or ())) or None


def code_of(category: str) -> str:
    """Write a category as codes are written, without what it is a kind of."""
    last = category.replace("=", ".").replace(":", ".").rpartition(".")[2]
    return last.strip().lower().replace(" ", "_").replace("-", "_")


def words_of(category: str) -> str:
    """Write a category in words: `car_repair` is Car repair."""
    spaced = category.replace("_", " ").strip()
    return spaced[:1].upper() + spaced[1:]
