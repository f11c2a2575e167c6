"""A database as the system before this one left it: its tables, enum types and rows."""

from typing import Any
from uuid import UUID

import psycopg

from tests.conftest import TestDatabase

TYPES = {
    "place_status_enum": "New, Selected, Maybe, Not a Fit, Archived",
    "gcp_api_deep_scan_status_enum": "Queued, Processing, Completed, Error",
    "DomainExtractionStatusEnum": "Queued, Processing, Completed, Error",
    "SitemapCurationStatusEnum": "New, Selected, Maybe, Not a Fit, Archived",
    "SitemapAnalysisStatusEnum": "Queued, Processing, Completed, Error",
    "sitemap_import_status_enum": "Queued, Processing, Completed, Error",
    "pagecurationstatus": "New, Queued, Processing, Complete, Error, Skipped",
    "pageprocessingstatus": "Queued, Processing, Complete, Error",
    "contactcurationstatus": "New, Queued, Processing, Complete, Error, Skipped",
    "contact_email_type_enum": "Service, Corporate, Free, Unknown",
}
"""Other names than ours, and other labels in places."""
TIMES = "created_at timestamp DEFAULT now(), updated_at timestamptz DEFAULT now()"
TABLES = {
    "places_staging": """id integer PRIMARY KEY, place_id text, name text,
      formatted_address text, business_type text, latitude float, longitude float,
      rating float, user_ratings_total integer, price_level integer, tenant_id uuid,
      search_time timestamptz DEFAULT now(), raw_data jsonb,
      status place_status_enum DEFAULT 'New', deep_scan_error text,
      deep_scan_status gcp_api_deep_scan_status_enum""",
    "local_businesses": f"""id uuid PRIMARY KEY, tenant_id uuid, place_id text,
      business_name text, street_address text, city text, state text, zip text,
      country text, phone text, main_category text, extra_categories text[],
      rating numeric, reviews_count integer, website_url text, monday_hours text,
      additional_json jsonb DEFAULT '{{}}', status place_status_enum DEFAULT 'New',
      domain_extraction_status "DomainExtractionStatusEnum",
      domain_extraction_error text, {TIMES}""",
    "domains": f"""id uuid PRIMARY KEY, tenant_id uuid, domain varchar,
      status varchar DEFAULT 'pending', title text, description text, tech_stack json,
      is_wordpress boolean, wordpress_version text, email_addresses text[],
      phone_numbers text[], facebook_url text, last_error text, local_business_id uuid,
      sitemap_curation_status "SitemapCurationStatusEnum" DEFAULT 'New',
      sitemap_analysis_status "SitemapAnalysisStatusEnum", sitemap_analysis_error text,
      {TIMES}""",
    "sitemap_files": f"""id uuid PRIMARY KEY, tenant_id uuid, domain_id uuid, url text,
      sitemap_type text, discovery_method text, size_bytes integer, url_count integer,
      last_modified timestamptz, status text DEFAULT 'new',
      deep_scrape_curation_status "SitemapCurationStatusEnum" DEFAULT 'New',
      sitemap_import_status sitemap_import_status_enum, sitemap_import_error text,
      {TIMES}""",
    "sitemaps": f"id uuid PRIMARY KEY, domain_id uuid, url text, status text, {TIMES}",
    "sitemap_urls": f"""id uuid PRIMARY KEY, tenant_id uuid, domain_id uuid,
      sitemap_id uuid, url text, loc_text text, status text DEFAULT 'new',
      lastmod timestamptz, {TIMES}""",
    "pages": f"""id uuid PRIMARY KEY, tenant_id uuid, domain_id uuid,
      sitemap_file_id uuid, url text, title text, page_type text,
      page_curation_status pagecurationstatus DEFAULT 'New',
      page_processing_status pageprocessingstatus, page_processing_error text,
      {TIMES}""",
    "contacts": f"""id uuid PRIMARY KEY, domain_id uuid, page_id uuid, email text,
      email_type contact_email_type_enum, name text, phone_number text, context text,
      source_url text, contact_curation_status contactcurationstatus DEFAULT 'New',
      {TIMES}""",
    "jobs": """id integer PRIMARY KEY, job_id uuid, status varchar, job_type varchar,
      created_at timestamp DEFAULT now()""",
}


def create_old_system(database: TestDatabase) -> None:
    """Make the tables and types of the old system."""
    labels = {
        name: ", ".join(f"'{label}'" for label in labels.split(", "))
        for name, labels in TYPES.items()
    }
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for name, values in labels.items():
            connection.execute(f'CREATE TYPE "{name}" AS ENUM ({values})'.encode())
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})".encode())


def add_old(database: TestDatabase, table: str, **values: Any) -> Any:
    """Store a row of the old system; return its key."""
    columns, marks = ", ".join(values), ", ".join(["%s"] * len(values))
    statement = f"INSERT INTO {table} ({columns}) VALUES ({marks}) RETURNING id"
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        found = connection.execute(statement.encode(), [*values.values()]).fetchone()
    assert found is not None
    return found[0]


def key(number: int) -> UUID:
    """Give a key that is easy to tell from others."""
    return UUID(int=0xABCDEF << 96 | number)


def small_town(database: TestDatabase) -> None:
    """Store one business from its place to its contact, and what the old system left half done."""
    create_old_system(database)
    for table, values in ROWS:
        add_old(database, table, **values)


ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("places_staging", {"id": 1, "place_id": "ChIJ-1", "name": "Harbour Dental",
      "user_ratings_total": 12, "status": "Selected", "deep_scan_status": "Completed"}),
    ("places_staging", {"id": 2, "place_id": "ChIJ-2", "name": "Zombie Dental",
      "deep_scan_status": "Processing"}),
    ("local_businesses", {"id": key(1), "place_id": "ChIJ-1", "country": "GB",
      "business_name": "Harbour Dental", "phone": "020 7946 0018", "status": "Selected",
      "website_url": "https://harbour-dental.bv/", "main_category": "Dentist",
      "extra_categories": ["Clinic"], "domain_extraction_status": "Processing"}),
    ("domains", {"id": key(10), "domain": "www.Harbour-Dental.bv", "status": "completed",
      "is_wordpress": True, "email_addresses": ["Info@Harbour-Dental.bv", "no"],
      "local_business_id": key(1), "sitemap_analysis_status": "Completed",
      "sitemap_curation_status": "Selected", "tech_stack": '{"cms": "x\\u0000y"}'}),
    ("domains", {"id": key(11), "domain": "harbour-dental.bv", "status": "processing"}),
    ("sitemap_files", {"id": key(20), "domain_id": key(10), "sitemap_type": "STANDARD",
      "url": "https://harbour-dental.bv/sitemap.xml", "status": "Completed",
      "deep_scrape_curation_status": "Selected", "sitemap_import_status": "Completed"}),
    ("sitemaps", {"id": key(21), "domain_id": key(11),
      "url": "https://harbour-dental.bv/news.xml", "status": "completed"}),
    ("pages", {"id": key(30), "domain_id": key(10), "sitemap_file_id": key(20),
      "url": "http://harbour-dental.bv/contact", "page_curation_status": "Processing",
      "page_processing_status": "Processing"}),
    ("sitemap_urls", {"id": key(31), "sitemap_id": key(20), "domain_id": key(11),
      "url": "http://harbour-dental.bv/contact"}),
    ("sitemap_urls", {"id": key(32), "sitemap_id": key(20),
      "url": "https://harbour-dental.bv/team"}),
    ("contacts", {"id": key(40), "domain_id": key(11), "page_id": key(30),
      "email": "Ada@Harbour-Dental.bv", "email_type": "Corporate", "name": "Ada Byron",
      "context": "write to Ada", "contact_curation_status": "New"}),
    ("jobs", {"id": 1, "status": "running", "job_type": "sitemap"}),
)  # fmt: skip
