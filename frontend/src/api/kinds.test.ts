import { expect, it } from "vitest";
import { type KindOut, kindNamed, kindOfScreen, kinds, recordScreen, rememberKinds } from "./kinds";

const declared = (given: Partial<KindOut>): KindOut => ({
  name: "sitemap_files",
  path: "/sitemap-files",
  title: "Sitemap files",
  singular: "sitemap file",
  plural: "sitemap files",
  icon: "sitemap",
  key: "f",
  about: "",
  source: null,
  label: ["url", "domain"],
  unnamed: "Sitemap without an address",
  under: ["domain", "found_by"],
  decision: {
    field: "status",
    choices: [{ status: "Selected", key: "s", icon: "no such picture" }],
    undecided: "New",
    on: "Selected",
    starts: "sitemap_import",
    stage_field: "import_status",
    error_field: "import_error",
    unattended: null,
    is_within_site_budget: false,
    busy: [],
  },
  columns: [],
  facts: [],
  exported: [],
  submission: null,
  presets: [],
  required: {},
  is_step: false,
  is_mergeable: false,
  has_priority: false,
  has_owner: false,
  has_pairs: false,
  has_site_budget: false,
  form: null,
  quick_filters: [],
  ...given,
});

it("knows the kinds that are decided about, by name and by screen", () => {
  rememberKinds([declared({}), declared({ name: "searches", decision: null })]);

  expect(kinds().map(({ name }) => name)).toEqual(["sitemap_files"]);
  expect(kindOfScreen("sitemap-files")).toBe(kindNamed("sitemap_files"));
  expect(recordScreen("sitemap_files", "1")).toBe("/curate/sitemap-files?open=1");
  expect(recordScreen("searches", "1")).toBe("/search/1");
});

it("names a record by the first of its fields that says something", () => {
  const [kind] = rememberKinds([declared({})]);

  expect(kind?.label({ url: "", domain: "a.example" })).toBe("a.example");
  expect(kind?.label({ url: null })).toBe("Sitemap without an address");
  expect(kind?.under({ domain: "a.example", found_by: "robots" })).toBe("a.example · robots");
});

it("shows a sheet of paper for a picture it does not have", () => {
  const [kind] = rememberKinds([declared({})]);

  expect(kind?.decisions[0]?.icon).toBe("page");
});
