/** Take the list away: as it is filtered now, in the columns that are wanted. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { addressOf, ofKind, type Query, read, send, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { Button, Checkbox, Dialog, plural, Select, toast, toastError, whole } from "@/kit";
import { fieldWord } from "./filters";
import type { Total } from "./model";

const FORMATS = [
  { value: "csv", label: "CSV, for any spreadsheet" },
  { value: "xlsx", label: "Excel workbook" },
  { value: "jsonl", label: "JSON lines, for programs" },
];

const OWN_COLUMNS = { value: "", label: "Columns chosen below" };
const PRESETS: Record<string, string> = {
  leads: "Lead list, one row per company",
  hubspot: "HubSpot",
  salesforce: "Salesforce",
  pipedrive: "Pipedrive",
  mailchimp: "Mailchimp",
  zoho: "Zoho CRM",
  "google-contacts": "Google Contacts",
};

/** Names of records are for programs: they are in the file only when asked for. */
const isWanted = (column: string): boolean =>
  column !== "id" && column !== "created_by" && !column.endsWith("_id");

/** As many ids as fit into the address of a download; more are sent. */
const MOST_ADDRESSED = 300;
/** As long as a browser may take to write a file. */
const KEPT_MS = 60_000;
/** As many as the server takes. */
const MOST_SELECTED = 10_000;

/** What a CRM calls the field of ours that it requires. */
const requiredWord = (field: string): string =>
  field === "email" ? "an e-mail address" : `a ${fieldWord(field).toLowerCase()}`;

const narrowed = (query: Query, ...filters: string[]): Query => ({
  ...query,
  filter: [query.filter ?? []].flat().concat(filters),
});

/** Hand a file to the browser under the name that the server gave it. */
async function save(answer: Response): Promise<void> {
  const said = answer.headers.get("Content-Disposition") ?? "";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = /filename="([^"]+)"/.exec(said)?.[1] ?? "export";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

/** How many of the records lack a field that the program requires; undefined until it is known. */
function useMissing(
  kind: Kind,
  query: Query,
  required: readonly string[],
  sent: readonly string[],
): { missing: number | undefined; isCounting: boolean } {
  const asked = narrowed(query, required.map((field) => `${field}:unknown`).join("|"));
  const { data, isLoading } = useQuery({
    queryKey: ["missing", kind.name, asked, sent.length],
    queryFn: () => (sent.length ? countSent(kind, asked, sent) : countListed(kind, asked)),
    enabled: required.length > 0,
    // The ids stay the same while the dialog is open, and are too many for a key.
    gcTime: 0,
  });
  return { missing: required.length ? data : 0, isCounting: isLoading };
}

async function countListed(kind: Kind, query: Query): Promise<number> {
  const { total } = await read(ofKind(kind, ""), { query: { ...query, limit: 1 } });
  return total.count;
}

async function countSent(kind: Kind, { filter }: Query, ids: readonly string[]): Promise<number> {
  const route = ofKind(kind, "/export/chosen/count");
  const { count } = await write("POST", route, { query: { filter }, body: { ids: [...ids] } });
  return count;
}

interface ExportProps {
  kind: Kind;
  query: Query;
  total: Total;
  /** The ids that are selected one by one. */
  selected: readonly string[];
  onClose: () => void;
}

export function Export({ kind, query, total, selected, onClose }: ExportProps) {
  const isTaken = selected.length > 0 && selected.length <= MOST_SELECTED;
  const [isPart, setPart] = useState(isTaken);
  const [isBusy, setBusy] = useState(false);
  const [format, setFormat] = useState("csv");
  const [preset, setPreset] = useState(kind.presets.includes("leads") ? "leads" : "");
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set());
  const [isWhole, setWhole] = useState(false);
  const columns = kind.exported;
  const isChosen = (name: string) => isWanted(name) !== flipped.has(name);
  const chosen = columns.filter(isChosen);
  const isSent = isPart && selected.length > MOST_ADDRESSED;
  const ids = isSent ? [] : [`id:one_of:${selected.join(",")}`];
  const meant = isPart ? { filter: ids, sort: query.sort } : query;
  const required = kind.required[preset] ?? [];
  const { missing, isCounting } = useMissing(kind, meant, required, isSent ? selected : []);
  // Rows that could not be counted are left out, too: a CRM would refuse the file.
  const isLeftOut = missing !== 0 && !isWhole;
  const asked = {
    ...(isLeftOut ? narrowed(meant, ...required.map((field) => `${field}:known`)) : meant),
    format,
    ...(preset ? { preset } : { columns: chosen.join(",") }),
  };

  async function download() {
    setBusy(true);
    try {
      const body = { ids: selected };
      await save(await send("POST", `${kind.path}/export/chosen`, { query: asked, body }));
      finish();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  }

  const about = isPart || total.is_exact ? "" : "About ";
  function finish() {
    if (missing && isLeftOut) {
      const written = (isPart ? selected.length : total.count) - missing;
      const text = `${about}${plural(written, kind.one, kind.many)} exported, ${whole(missing)} left out.`;
      toast({ kind: "good", text });
    }
    onClose();
  }

  const all = `${total.is_exact ? "" : "about "}${plural(total.count, kind.one, kind.many)}`;
  const some = plural(selected.length, kind.one, kind.many);
  const count = isPart ? some : all;
  return (
    <Dialog
      title={`Export ${count}`}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {isSent ? (
            <Button
              look="primary"
              busy={isBusy}
              disabled={isCounting}
              onClick={() => void download()}
            >
              Download
            </Button>
          ) : (chosen.length || preset) && !isCounting ? (
            <a
              className="button primary"
              href={addressOf(`${kind.path}/export`, asked)}
              download
              onClick={() => setTimeout(finish)}
            >
              Download
            </a>
          ) : (
            <Button look="primary" disabled>
              Download
            </Button>
          )}
        </>
      }
    >
      <div className="stack">
        {selected.length > 0 && (
          <Select
            label="Records"
            value={isPart ? "some" : "all"}
            options={[
              ...(isTaken ? [{ value: "some", label: `Selected: ${some}` }] : []),
              { value: "all", label: `All in the list: ${all}` },
            ]}
            hint={
              isTaken ? undefined : `Up to ${whole(MOST_SELECTED)} can be exported by selection.`
            }
            onChange={(event) => setPart(event.target.value === "some")}
          />
        )}
        <Select
          label="Format"
          value={format}
          options={FORMATS}
          onChange={(event) => setFormat(event.target.value)}
        />
        {kind.presets.length > 0 && (
          <Select
            label="Preset"
            value={preset}
            options={[
              OWN_COLUMNS,
              ...kind.presets.map((value) => ({ value, label: PRESETS[value] ?? value })),
            ]}
            hint="Uses the columns and headings that program expects."
            onChange={(event) => setPreset(event.target.value)}
          />
        )}
        {missing === undefined && !isCounting && (
          <p role="status">
            {kind.title} without {required.map(requiredWord).join(", ")} are left out:{" "}
            {PRESETS[preset] ?? preset} would refuse them.
          </p>
        )}
        {missing !== undefined && missing > 0 && (
          <div className="stack" role="status">
            <p>
              {plural(missing, kind.one, kind.many)} without {required.map(requiredWord).join(", ")}
              : {PRESETS[preset] ?? preset} would refuse {missing === 1 ? "it" : "them"}.
            </p>
            <Checkbox
              label="Leave these out"
              checked={!isWhole}
              onChange={(event) => setWhole(!event.target.checked)}
            />
          </div>
        )}
        {!preset && (
          <fieldset className="columns-choice">
            <legend className="small soft">
              Columns ({chosen.length} of {columns.length})
            </legend>
            {columns.map((name) => (
              <Checkbox
                key={name}
                label={fieldWord(name)}
                checked={isChosen(name)}
                onChange={() => {
                  const next = new Set(flipped);
                  if (!next.delete(name)) next.add(name);
                  setFlipped(next);
                }}
              />
            ))}
          </fieldset>
        )}
        <p className="small soft">
          Entries of Do not contact are never exported. Cells that a spreadsheet could read as a
          formula are made safe.
        </p>
      </div>
    </Dialog>
  );
}
