/** The six kinds of records, each with its words, its columns and its decisions. */
import type { ReactNode } from "react";
import { bytes, type IconName, percent, Status, short, Time, wordOf } from "@/kit";
import { list, number, type Row, readable, text, webAddress } from "./model";

export interface Decision {
  status: string;
  /** The key that decides it. */
  key: string;
  icon: IconName;
}

export interface ColumnSpec {
  field: string;
  name: string;
  /** A width of CSS grid. */
  width: string;
  show?: (row: Row) => ReactNode;
  isNumber?: boolean;
  unsorted?: boolean;
  /** Not shown until chosen. */
  isHidden?: boolean;
}

export interface Kind {
  /** As in the page's address. */
  id: string;
  /** As the server calls it. */
  name: string;
  path: string;
  title: string;
  one: string;
  many: string;
  icon: IconName;
  about: string;
  /** What to do when there are none. */
  source: { text: string; to: string; action: string };
  status: string;
  stageStatus: string;
  error: string;
  label: (row: Row) => string;
  under: (row: Row) => ReactNode;
  decisions: readonly Decision[];
  columns: readonly ColumnSpec[];
  /** Fields that are shown first in the pane; the rest follow. */
  facts: readonly string[];
  /** The columns its file may have, if they are not its fields. */
  exported?: readonly string[];
  /** May be submitted by pasting or dropping a file. */
  canSubmit?: boolean;
}

const CURATED: readonly Decision[] = [
  { status: "Selected", key: "s", icon: "check" },
  { status: "Maybe", key: "m", icon: "clock" },
  { status: "Not a Fit", key: "n", icon: "cross" },
  { status: "Archived", key: "a", icon: "archive" },
  { status: "New", key: "w", icon: "undo" },
];

const words = (field: string) => (row: Row) => {
  const value = text(row[field]);
  return value ? (
    <span className="foreign cut" title={value}>
      {value}
    </span>
  ) : (
    <None />
  );
};

const None = () => <span className="faint">–</span>;

const strong = (field: string) => (row: Row) => {
  const value = text(row[field]);
  return (
    <span className="foreign cut strong" title={value ?? undefined}>
      {value ?? "–"}
    </span>
  );
};

/** A name with a smaller line below it. */
const titled = (field: string, under: (row: Row) => string) => (row: Row) =>
  twoLines(text(row[field]), under(row));

function twoLines(name: string | null, more: string): ReactNode {
  if (!name && !more) return <None />;
  return (
    <span className="two-lines" title={[name, more].filter(Boolean).join("\n")}>
      {name && <span className="foreign cut strong">{name}</span>}
      {more && <span className="foreign cut small soft">{more}</span>}
    </span>
  );
}

const place = (row: Row) => text(row.address) ?? "";

const street = (row: Row) => [text(row.street), text(row.city)].filter(Boolean).join(", ");

const role = (row: Row) => text(row.role) ?? "";

/** A contact without an address is known by its number. */
const reached = (row: Row) =>
  twoLines(text(row.email) ?? text(row.phone), text(row.business) ?? "");

const furtherPhone = (row: Row) => (text(row.email) ? words("phone")(row) : <None />);

/** One of a few words that the server writes for machines. */
const word = (field: string) => (row: Row) => {
  const value = text(row[field]);
  return value ? <span className="cut">{wordOf(value)}</span> : <None />;
};

const several = (field: string) => (row: Row) => {
  const value = list(row[field]).map(readable).join(", ");
  return value ? (
    <span className="foreign cut" title={value}>
      {value}
    </span>
  ) : (
    <None />
  );
};

const status = (field: string) => (row: Row) => <Status status={text(row[field])} field={field} />;

const amount = (field: string) => (row: Row) => {
  const value = number(row[field]);
  return value === null ? <None /> : short(value);
};

const when = (field: string) => (row: Row) => <Time at={text(row[field])} />;

function link(field: string) {
  return (row: Row) => <Address value={row[field]} />;
}

/** An address from elsewhere: opened in its own tab, which learns nothing of this page. */
export function Address({ value, full }: { value: unknown; full?: boolean }) {
  const written = text(value);
  if (!written) return <None />;
  const href = webAddress(written);
  const shown = full ? written : written.replace(/^https?:\/\/(www\.)?/i, "").replace(/\/$/, "");
  const whole = full ? undefined : written;
  if (!href) {
    return (
      <span className="foreign cut" title={whole}>
        {written}
      </span>
    );
  }
  return (
    <a
      className="foreign cut"
      title={whole}
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      tabIndex={full ? 0 : -1}
      onClick={(event) => event.stopPropagation()}
    >
      {shown}
    </a>
  );
}

const rating = (row: Row) => {
  const stars = number(row.rating);
  if (stars === null) return <None />;
  const reviews = number(row.reviews_count);
  return (
    <span>
      {stars.toFixed(1)}{" "}
      <span className="faint">{reviews === null ? "" : `(${short(reviews)})`}</span>
    </span>
  );
};

const likelihood = (row: Row) => {
  const share = number(row.contact_likelihood);
  return share === null ? <None /> : percent(share);
};

const CHANGED: ColumnSpec = {
  field: "updated_at",
  name: "Changed",
  width: "6rem",
  show: when("updated_at"),
};

/** A contact's file has its business, its address and its best evidence in columns of their own. */
const EXPORTED_CONTACT = [
  ["business", "domain", "email", "email_type", "validation", "name", "role", "phone", "phones"],
  ["street", "city", "state", "postal_code", "country", "website", "social_links", "confidence"],
  ["status", "tags", "notes", "source_url", "method", "snippet", "id", "created_at", "updated_at"],
].flat();

export const KINDS: readonly Kind[] = [
  {
    id: "places",
    name: "places",
    path: "/places/staging",
    title: "Places",
    one: "place",
    many: "places",
    icon: "place",
    about: "What searches found. Select the ones worth a closer look.",
    source: { text: "Places come from searches.", to: "/search", action: "Start a search" },
    status: "status",
    stageStatus: "deep_scan_status",
    error: "deep_scan_error",
    label: (row) => text(row.name) ?? "Place without a name",
    under: place,
    decisions: CURATED,
    facts: [
      "name",
      "address",
      "categories",
      "rating",
      "reviews_count",
      "website",
      "phone",
      "business_status",
    ],
    columns: [
      { field: "name", name: "Name", width: "minmax(17rem, 2.4fr)", show: titled("name", place) },
      { field: "status", name: "Decision", width: "6.5rem", show: status("status") },
      {
        field: "deep_scan_status",
        name: "Deep scan",
        width: "7rem",
        show: status("deep_scan_status"),
      },
      {
        field: "categories",
        name: "Categories",
        width: "minmax(9rem, 1fr)",
        show: several("categories"),
        unsorted: true,
      },
      { field: "rating", name: "Rating", width: "6rem", show: rating },
      { field: "website", name: "Website", width: "minmax(11.5rem, 1.4fr)", show: link("website") },
      { field: "phone", name: "Phone", width: "9rem", show: words("phone"), isHidden: true },
      {
        field: "address",
        name: "Address",
        width: "minmax(16rem, 1.4fr)",
        show: words("address"),
        isHidden: true,
      },
      { field: "source", name: "Source", width: "6rem", show: word("source"), isHidden: true },
      CHANGED,
    ],
  },
  {
    id: "businesses",
    name: "businesses",
    path: "/local-businesses",
    title: "Businesses",
    one: "business",
    many: "businesses",
    icon: "business",
    about: "Places with all their details. Select those whose website should be read.",
    source: {
      text: "Businesses come from selected places.",
      to: "/curate/places",
      action: "To the places",
    },
    status: "status",
    stageStatus: "domain_extraction_status",
    error: "domain_extraction_error",
    label: (row) => text(row.name) ?? "Business without a name",
    under: street,
    decisions: CURATED,
    facts: [
      "name",
      "street",
      "postal_code",
      "city",
      "country",
      "phone",
      "website",
      "domain",
      "categories",
      "rating",
    ],
    columns: [
      { field: "name", name: "Name", width: "minmax(17rem, 2.4fr)", show: titled("name", street) },
      { field: "status", name: "Decision", width: "6.5rem", show: status("status") },
      {
        field: "domain_extraction_status",
        name: "Domain",
        width: "7rem",
        show: status("domain_extraction_status"),
      },
      { field: "city", name: "City", width: "8rem", show: words("city"), isHidden: true },
      { field: "phone", name: "Phone", width: "9rem", show: words("phone") },
      { field: "website", name: "Website", width: "minmax(12rem, 1.4fr)", show: link("website") },
      { field: "rating", name: "Rating", width: "6rem", show: rating },
      {
        field: "categories",
        name: "Categories",
        width: "minmax(8rem, 1fr)",
        show: several("categories"),
        unsorted: true,
        isHidden: true,
      },
      CHANGED,
    ],
  },
  {
    id: "domains",
    name: "domains",
    path: "/domains",
    title: "Domains",
    one: "domain",
    many: "domains",
    icon: "domain",
    about: "Websites of businesses, with what their home page tells.",
    source: {
      text: "Domains come from selected businesses, or are submitted.",
      to: "/batches",
      action: "Submit domains",
    },
    status: "sitemap_curation_status",
    stageStatus: "sitemap_analysis_status",
    error: "sitemap_analysis_error",
    label: (row) => text(row.domain) ?? "",
    under: (row) => text(row.title) ?? "",
    decisions: CURATED,
    facts: [
      "domain",
      "home_url",
      "verdict",
      "title",
      "description",
      "language",
      "generator",
      "generator_version",
      "emails",
      "phones",
    ],
    canSubmit: true,
    columns: [
      { field: "domain", name: "Domain", width: "minmax(13rem, 2fr)", show: strong("domain") },
      {
        field: "sitemap_curation_status",
        name: "Decision",
        width: "6.5rem",
        show: status("sitemap_curation_status"),
      },
      { field: "status", name: "Home page", width: "7rem", show: status("status") },
      {
        field: "sitemap_analysis_status",
        name: "Sitemaps",
        width: "7rem",
        show: status("sitemap_analysis_status"),
      },
      { field: "verdict", name: "Verdict", width: "7rem", show: word("verdict") },
      { field: "title", name: "Title", width: "minmax(10rem, 1.6fr)", show: words("title") },
      { field: "generator", name: "Made with", width: "7rem", show: words("generator") },
      {
        field: "language",
        name: "Language",
        width: "6rem",
        show: words("language"),
        isHidden: true,
      },
      {
        field: "emails",
        name: "E-mails",
        width: "minmax(9rem, 1fr)",
        show: several("emails"),
        unsorted: true,
        isHidden: true,
      },
      CHANGED,
    ],
  },
  {
    id: "sitemap-files",
    name: "sitemap_files",
    path: "/sitemap-files",
    title: "Sitemap files",
    one: "sitemap file",
    many: "sitemap files",
    icon: "sitemap",
    about: "Lists of pages that websites publish. Select those to import.",
    source: {
      text: "Sitemap files are found on domains.",
      to: "/curate/domains",
      action: "To the domains",
    },
    status: "deep_scrape_curation_status",
    stageStatus: "sitemap_import_status",
    error: "sitemap_import_error",
    label: (row) => text(row.url) ?? "",
    under: (row) => text(row.domain) ?? "",
    decisions: CURATED,
    facts: [
      "url",
      "domain",
      "sitemap_type",
      "found_by",
      "url_count",
      "size_bytes",
      "lastmod",
      "generator",
    ],
    canSubmit: true,
    columns: [
      { field: "url", name: "Address", width: "minmax(18rem, 2.5fr)", show: link("url") },
      {
        field: "deep_scrape_curation_status",
        name: "Decision",
        width: "6.5rem",
        show: status("deep_scrape_curation_status"),
      },
      {
        field: "sitemap_import_status",
        name: "Import",
        width: "7rem",
        show: status("sitemap_import_status"),
      },
      { field: "sitemap_type", name: "Type", width: "6rem", show: word("sitemap_type") },
      {
        field: "url_count",
        name: "Pages",
        width: "5.5rem",
        show: amount("url_count"),
        isNumber: true,
      },
      {
        field: "size_bytes",
        name: "Size",
        width: "6rem",
        isNumber: true,
        show: (row) => {
          const size = number(row.size_bytes);
          return size === null ? <None /> : bytes(size);
        },
      },
      { field: "found_by", name: "Found by", width: "7.5rem", show: word("found_by") },
      {
        field: "domain",
        name: "Domain",
        width: "minmax(8rem, 1fr)",
        show: words("domain"),
        unsorted: true,
        isHidden: true,
      },
      CHANGED,
    ],
  },
  {
    id: "pages",
    name: "pages",
    path: "/pages",
    title: "Pages",
    one: "page",
    many: "pages",
    icon: "page",
    about:
      "Pages of websites. Select those that may name contacts; sort by Likely to see the best first.",
    source: {
      text: "Pages come from imported sitemap files.",
      to: "/curate/sitemap-files",
      action: "To the sitemap files",
    },
    status: "page_curation_status",
    stageStatus: "page_processing_status",
    error: "page_processing_error",
    label: (row) => text(row.url) ?? "",
    under: (row) => text(row.title) ?? "",
    decisions: [
      { status: "Selected", key: "s", icon: "check" },
      { status: "Skipped", key: "n", icon: "cross" },
      { status: "New", key: "w", icon: "undo" },
    ],
    facts: [
      "url",
      "domain",
      "page_type",
      "contact_likelihood",
      "likelihood_reasons",
      "title",
      "description",
      "h1",
      "language",
      "http_status",
    ],
    canSubmit: true,
    columns: [
      { field: "url", name: "Address", width: "minmax(15.5rem, 2.5fr)", show: link("url") },
      {
        field: "page_curation_status",
        name: "Decision",
        width: "6.5rem",
        show: status("page_curation_status"),
      },
      {
        field: "page_processing_status",
        name: "Reading",
        width: "7rem",
        show: status("page_processing_status"),
      },
      {
        field: "contact_scrape_status",
        name: "Contacts",
        width: "8.5rem",
        show: status("contact_scrape_status"),
      },
      { field: "page_type", name: "Type", width: "7rem", show: word("page_type") },
      {
        field: "contact_likelihood",
        name: "Likely",
        width: "4.5rem",
        show: likelihood,
        isNumber: true,
      },
      { field: "title", name: "Title", width: "minmax(9rem, 1.5fr)", show: words("title") },
      {
        field: "domain",
        name: "Domain",
        width: "minmax(8rem, 1fr)",
        show: words("domain"),
        unsorted: true,
        isHidden: true,
      },
      CHANGED,
    ],
  },
  {
    id: "contacts",
    name: "contacts",
    path: "/contacts",
    title: "Contacts",
    one: "contact",
    many: "contacts",
    icon: "contact",
    about: "Ways to reach people, each with where it was found.",
    source: {
      text: "Contacts are found on selected pages.",
      to: "/curate/pages",
      action: "To the pages",
    },
    status: "contact_curation_status",
    stageStatus: "validation_processing_status",
    error: "validation_processing_error",
    label: (row) => text(row.email) ?? text(row.phone) ?? "",
    under: (row) =>
      [text(row.name), text(row.role), text(row.business)].filter(Boolean).join(" · "),
    decisions: [
      { status: "Queued", key: "s", icon: "check" },
      { status: "Skipped", key: "n", icon: "cross" },
      { status: "New", key: "w", icon: "undo" },
    ],
    facts: [
      "email",
      "email_type",
      "name",
      "role",
      "phone",
      "phones",
      "business",
      "domain",
      "address",
      "social_links",
      "confidence",
      "notes",
      "tags",
      "validation",
    ],
    exported: EXPORTED_CONTACT,
    columns: [
      { field: "email", name: "E-mail or phone", width: "minmax(19rem, 2fr)", show: reached },
      {
        field: "contact_curation_status",
        name: "Decision",
        width: "5.75rem",
        show: status("contact_curation_status"),
      },
      {
        field: "validation_processing_status",
        name: "Check",
        width: "6.5rem",
        show: status("validation_processing_status"),
      },
      { field: "name", name: "Name", width: "minmax(11rem, 1.2fr)", show: titled("name", role) },
      {
        field: "role",
        name: "Role",
        width: "minmax(7rem, 0.8fr)",
        show: words("role"),
        isHidden: true,
      },
      { field: "phone", name: "Phone", width: "9rem", show: furtherPhone },
      {
        field: "business",
        name: "Business",
        width: "minmax(9rem, 1.2fr)",
        show: words("business"),
        unsorted: true,
        isHidden: true,
      },
      {
        field: "email_type",
        name: "Type",
        width: "7rem",
        show: status("email_type"),
        isHidden: true,
      },
      {
        field: "confidence",
        name: "Sure",
        width: "4rem",
        isNumber: true,
        show: (row) => {
          const sure = number(row.confidence);
          return sure === null ? <None /> : percent(sure);
        },
      },
      {
        field: "domain",
        name: "Domain",
        width: "minmax(8rem, 1fr)",
        show: words("domain"),
        unsorted: true,
        isHidden: true,
      },
      {
        field: "tags",
        name: "Tags",
        width: "8rem",
        show: several("tags"),
        unsorted: true,
        isHidden: true,
      },
      CHANGED,
    ],
  },
];

export const kindOf = (id: string): Kind | undefined => KINDS.find((kind) => kind.id === id);

export const kindNamed = (name: string): Kind | undefined =>
  KINDS.find((kind) => kind.name === name);
