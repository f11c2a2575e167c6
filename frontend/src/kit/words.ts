/**
 * The catalogue of words for the values that the server keeps for machines. A value that is
 * not listed is spelt out, so that a new one is readable before it has a word of its own.
 */

/** `NoContactFound` is for machines; people read "No contact found". */
export function wordOf(value: string): string {
  if (value.includes(" ")) return value;
  const spaced = value.replace(/_/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

/** What a stage came to. People's decisions have words and colours of their own. */
const RESULTS: Record<string, string> = {
  complete: "Done",
  completed: "Done",
  submitted: "Done",
  processing: "Running",
  inprogress: "Running",
  error: "Failed",
  manualreview: "Needs review",
  filtered: "Not worth a visit",
};

interface Word {
  word: string;
  tone?: string;
}

const APPROVED: Word = { word: "Approved", tone: "accent" };

/** Statuses that mean something else in one column than in the others. */
const IN_FIELD: Record<string, Record<string, Word>> = {
  contact_curation_status: {
    Queued: { word: "Approve & verify", tone: "accent" },
    Processing: { word: "Verifying" },
    Complete: APPROVED,
  },
  page_curation_status: { Complete: APPROVED },
  // That an address was looked at is no good news: what was found out is.
  validation_processing_status: { Complete: { word: "Checked", tone: "quiet" } },
  deliverability: {
    deliverable: { word: "Deliverable", tone: "good" },
    risky: { word: "Risky", tone: "warn" },
    undeliverable: { word: "Undeliverable", tone: "bad" },
  },
};

const TONES: Record<string, string> = {
  selected: "accent",
  queued: "violet",
  processing: "warn",
  inprogress: "warn",
  working: "warn",
  complete: "good",
  completed: "good",
  submitted: "good",
  done: "good",
  contactfound: "good",
  valid: "good",
  maybe: "warn",
  paused: "warn",
  manualreview: "warn",
  error: "bad",
  failed: "bad",
  invalid: "bad",
};

/** The colour of a status, as the column it stands in means it. */
export function toneOf(status: string, field = ""): string {
  return IN_FIELD[field]?.[status]?.tone ?? TONES[status.toLowerCase()] ?? "quiet";
}

/** The word for a status, as the column it stands in means it. */
export function statusWord(status: string, field = ""): string {
  return IN_FIELD[field]?.[status]?.word ?? RESULTS[status.toLowerCase()] ?? wordOf(status);
}

const VALUES: Record<string, Record<string, string>> = {
  email_type: {
    SERVICE: "Shared inbox",
    CORPORATE: "Company address",
    FREE: "Free mail",
    UNKNOWN: "Unknown",
  },
  page_type: {
    contact_root: "Contact page",
    about_root: "About page",
    team_root: "Team page",
    career_contact: "Careers page",
    services_root: "Services page",
    menu_root: "Menu",
    pricing_root: "Prices",
    legal_root: "Legal notice",
    wp_prospect: "WordPress page",
  },
  verdict: {
    own_site: "Own website",
    redirect_to_other_brand: "Leads to another brand",
    candidate: "May have moved",
    login_wall: "Login required",
    challenge_wall: "Blocks visitors",
    deliverable: "Deliverable",
    risky: "Risky",
    undeliverable: "Undeliverable",
  },
  mail: {
    takes_mail: "Accepts mail",
    address_only: "May accept mail",
    refuses_mail: "Refuses mail",
    no_such_domain: "Domain does not exist",
    no_server: "No mail server",
  },
  method: {
    mailto: "E-mail link",
    tel: "Phone link",
    text: "In the text",
    labelled_text: "Beside a label",
    obfuscated_text: "Hidden from bots",
    cloudflare: "Hidden from bots",
    script: "In a script",
    attribute: "In the page's code",
    image_alt: "Image description",
    json_ld: "Structured data",
    microdata: "Structured data",
    rdfa: "Structured data",
    hcard: "Structured data",
    meta: "Page metadata",
    title: "Page title",
    copyright: "Copyright line",
    legal_form: "Beside a legal form",
    postal_code: "Beside a postal code",
    street_word: "Street name",
    role: "Beside a job title",
    name_list: "In a list of names",
    honorific: "Beside a title",
  },
};

/** Whether a field's values have words of their own. */
export const hasWords = (field: string): boolean => field in VALUES;

/** The word for a value of a field. */
export function valueWord(value: string, field: string): string {
  return VALUES[field]?.[value] ?? wordOf(value);
}
