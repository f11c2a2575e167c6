/** The six kinds of records people decide about: their addresses, words and statuses. */
import type { IconName } from "@/kit";

export type KindName = "places" | "businesses" | "domains" | "sitemap_files" | "pages" | "contacts";

export interface Kind {
  name: KindName;
  /** Below /api/v3. */
  path: string;
  /** The screen's address. */
  screen: string;
  title: string;
  one: string;
  many: string;
  icon: IconName;
  /** The column a person decides in. */
  status: string;
  /** What the decision sets going. */
  trigger: string;
  /** The column of the stage that works on the record. */
  stageStatus: string;
}

export const KINDS: Readonly<Record<KindName, Kind>> = {
  places: {
    name: "places",
    path: "/places/staging",
    screen: "/curate/places",
    title: "Places",
    one: "place",
    many: "places",
    icon: "place",
    status: "status",
    trigger: "Selected",
    stageStatus: "deep_scan_status",
  },
  businesses: {
    name: "businesses",
    path: "/local-businesses",
    screen: "/curate/businesses",
    title: "Businesses",
    one: "business",
    many: "businesses",
    icon: "business",
    status: "status",
    trigger: "Selected",
    stageStatus: "domain_extraction_status",
  },
  domains: {
    name: "domains",
    path: "/domains",
    screen: "/curate/domains",
    title: "Domains",
    one: "domain",
    many: "domains",
    icon: "domain",
    status: "sitemap_curation_status",
    trigger: "Selected",
    stageStatus: "sitemap_analysis_status",
  },
  sitemap_files: {
    name: "sitemap_files",
    path: "/sitemap-files",
    screen: "/curate/sitemap-files",
    title: "Sitemap files",
    one: "sitemap file",
    many: "sitemap files",
    icon: "sitemap",
    status: "deep_scrape_curation_status",
    trigger: "Selected",
    stageStatus: "sitemap_import_status",
  },
  pages: {
    name: "pages",
    path: "/pages",
    screen: "/curate/pages",
    title: "Pages",
    one: "page",
    many: "pages",
    icon: "page",
    status: "page_curation_status",
    trigger: "Selected",
    stageStatus: "page_processing_status",
  },
  contacts: {
    name: "contacts",
    path: "/contacts",
    screen: "/curate/contacts",
    title: "Contacts",
    one: "contact",
    many: "contacts",
    icon: "contact",
    status: "contact_curation_status",
    trigger: "Queued",
    stageStatus: "validation_processing_status",
  },
};

export const KIND_NAMES = Object.keys(KINDS) as KindName[];

/** The kind behind `/curate/sitemap-files`. */
export function kindOfScreen(word: string): Kind | undefined {
  return KINDS[word.replaceAll("-", "_") as KindName];
}

/** The address of a kind's list with one filter set. */
export function filtered(kind: Kind, field: string, value: string): string {
  return `${kind.screen}?filter=${encodeURIComponent(`${field}:equal:${value}`)}`;
}
