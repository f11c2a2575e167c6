/** Take the list away: as it is filtered now, in the columns that are wanted. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { addressOf, ofKind, type Query, read, send, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { Button, Checkbox, Dialog, plural, Select, toast, toastError, whole } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/dialogs";
import { fieldWord } from "./filters";
import type { Total } from "./model";

const FORMATS = [
  { value: "csv", label: texts.export.csvForAnySpreadsheet },
  { value: "xlsx", label: texts.export.excelWorkbook },
  { value: "jsonl", label: texts.export.jsonLines },
];

const OWN_COLUMNS = { value: "", label: texts.export.columnsChosenBelow };
const LEADS = "leads";
const PRESETS: Record<string, string> = {
  leads: texts.export.leadList,
  hubspot: texts.export.hubspot,
  salesforce: texts.export.salesforce,
  pipedrive: texts.export.pipedrive,
  mailchimp: texts.export.mailchimp,
  zoho: texts.export.zohoCrm,
  "google-contacts": texts.export.googleContacts,
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

/** What is said before the download, whatever the program takes. */
const LACKED = ["email", "phone"];

/** What a CRM calls the field of ours that it requires. */
const requiredWord = (field: string): string =>
  field === "email"
    ? texts.export.emailAddress
    : texts.export.aField(fieldWord(field).toLowerCase());

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

/** What a file will hold; undefined until it is counted, and where it is too much to count. */
function useFile(kind: Kind, { q, filter }: Query, sent: readonly string[]) {
  const { data, isLoading } = useQuery({
    queryKey: ["export-count", kind.name, q, filter, sent.length],
    queryFn: () =>
      sent.length
        ? write("POST", ofKind(kind, "/export/chosen/count"), { body: { ids: [...sent] } })
        : read(ofKind(kind, "/export/count"), { query: { q, filter } }),
    // The ids stay the same while the dialog is open, and are too many for a key.
    gcTime: 0,
  });
  return { file: data?.is_exact ? data : undefined, isCounting: isLoading };
}

interface ExportProps {
  kind: Kind;
  query: Query;
  total: Total;
  /** The ids that are selected one by one. */
  selected: readonly string[];
  onClose: () => void;
}

export default function Export({ kind, query, total, selected, onClose }: ExportProps) {
  const isTaken = selected.length > 0 && selected.length <= MOST_SELECTED;
  const [isPart, setPart] = useState(isTaken);
  const [isBusy, setBusy] = useState(false);
  const [format, setFormat] = useState("csv");
  const [preset, setPreset] = useState(kind.presets.includes(LEADS) ? LEADS : "");
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set());
  const [isWhole, setWhole] = useState(false);
  const columns = kind.exported;
  const isChosen = (name: string) => isWanted(name) !== flipped.has(name);
  const chosen = columns.filter(isChosen);
  const isSent = isPart && selected.length > MOST_ADDRESSED;
  const ids = isSent ? [] : [`id:one_of:${selected.join(",")}`];
  const meant = isPart ? { filter: ids, sort: query.sort } : query;
  const required = kind.required[preset] ?? [];
  const { file, isCounting: isFileCounting } = useFile(kind, meant, isSent ? selected : []);
  const isCounting = isFileCounting && required.length > 0;
  const without = file?.without ?? {};
  const missing = required.length
    ? file && Math.max(...required.map((field) => without[field] ?? 0))
    : 0;
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

  function finish() {
    if (missing && isLeftOut) {
      const written = (file?.count ?? 0) - missing;
      const text = texts.export.exportedLeftOut(
        plural(written, kind.one, kind.many),
        whole(missing),
      );
      toast({ kind: "good", text });
    }
    onClose();
  }

  const all = texts.export.aboutCount(total.is_exact, plural(total.count, kind.one, kind.many));
  const some = plural(selected.length, kind.one, kind.many);
  const listed = isPart ? some : all;
  const count = file ? plural(file.count, kind.one, kind.many) : listed;
  const lacking = LACKED.filter((field) => without[field] && !required.includes(field)).map(
    (field) => texts.export.lacking(whole(without[field] ?? 0), requiredWord(field)),
  );
  return (
    <Dialog
      title={texts.export.export(count)}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          {isSent ? (
            <Button
              look="primary"
              busy={isBusy}
              disabled={isCounting}
              onClick={() => void download()}
            >
              {texts.export.download}
            </Button>
          ) : (chosen.length || preset) && !isCounting ? (
            <a
              className="button primary"
              href={addressOf(`${kind.path}/export`, asked)}
              download
              onClick={() => setTimeout(finish)}
            >
              {texts.export.download}
            </a>
          ) : (
            <Button look="primary" disabled>
              {texts.export.download}
            </Button>
          )}
        </>
      }
    >
      <div className="stack">
        {selected.length > 0 && (
          <Select
            label={texts.export.records}
            value={isPart ? "some" : "all"}
            options={[
              ...(isTaken ? [{ value: "some", label: texts.export.selected(some) }] : []),
              { value: "all", label: texts.export.allInTheList(all) },
            ]}
            hint={isTaken ? undefined : texts.export.upToCanBeExported(whole(MOST_SELECTED))}
            onChange={(event) => setPart(event.target.value === "some")}
          />
        )}
        <Select
          label={texts.export.format}
          value={format}
          options={FORMATS}
          onChange={(event) => setFormat(event.target.value)}
        />
        {kind.presets.length > 0 && (
          <Select
            label={texts.export.preset}
            value={preset}
            options={[
              OWN_COLUMNS,
              ...kind.presets.map((value) => ({ value, label: PRESETS[value] ?? value })),
            ]}
            hint={
              preset === LEADS
                ? texts.export.theCard
                : PRESETS[preset] && texts.export.usesTheColumnsAndHeadings(PRESETS[preset])
            }
            onChange={(event) => setPreset(event.target.value)}
          />
        )}
        {lacking.length > 0 && (
          <p role="status">{texts.export.ofThem(count, lacking.join(", "))}</p>
        )}
        {missing === undefined && !isCounting && (
          <p role="status">
            {texts.export.withoutAreLeftOut(
              kind.title,
              required.map(requiredWord).join(", "),
              PRESETS[preset] ?? preset,
            )}
          </p>
        )}
        {missing !== undefined && missing > 0 && (
          <div className="stack" role="status">
            <p>
              {texts.export.withoutWouldRefuse(
                plural(missing, kind.one, kind.many),
                required.map(requiredWord).join(", "),
                PRESETS[preset] ?? preset,
                missing,
              )}
            </p>
            <Checkbox
              label={texts.export.leaveTheseOut}
              checked={!isWhole}
              onChange={(event) => setWhole(!event.target.checked)}
            />
          </div>
        )}
        {!preset && (
          <fieldset className="columns-choice">
            <legend className="small soft">
              {texts.export.columnsOf(chosen.length, columns.length)}
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
          {file && file.held_back > 0
            ? texts.export.heldBack(whole(file.held_back))
            : texts.export.noneHeldBack}
          {texts.export.formulas}
        </p>
      </div>
    </Dialog>
  );
}
