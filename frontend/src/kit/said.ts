import { texts } from "@/texts/kit";
import { wordOf } from "./words";

/** Any value of JSON as words in one line: `{"rows": 3, "kinds": ["a"]}` is "rows: 3; kinds: a". */
export function said(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? texts.said.yes : texts.said.no;
  if (Array.isArray(value)) return value.map(said).join(", ") || "–";
  if (typeof value === "object") {
    return Object.entries(value)
      .filter(([, one]) => one !== null && one !== "")
      .map(([name, one]) => `${wordOf(name).toLowerCase()}: ${said(one)}`)
      .join("; ");
  }
  return String(value);
}
