/** What the columns of a business list hold: proposed by their headings, chosen by a person. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Failure, Loading, Select, Table, toastError } from "@/kit";
import { fieldWord } from "@/screens/curate/filters";
import { isOwn, nameFor } from "@/screens/curate/own";
import { texts } from "@/texts/batches";
import { Differences } from "./Differences";
import { LineProblems } from "./LineProblems";

export type Look = Schemas["FileLookOut"];

const OWN = "own.";
const COLUMNS = ["company-columns"];
/** Stands for a column of one's own that is made when it is chosen. */
const NEW_COLUMN = "+";
/** Stands for a column that is kept and not understood. */
const NO_FIELD = "-";
/** As much of a file as is looked at before it is imported. */
const LOOKED_AT = 1_000_000;

const numbers = new WeakMap<Blob, number>();
let last = 0;

/** Tell files apart that may be called the same and be of the same size. */
function numberOf(file: Blob): number {
  const number = numbers.get(file) ?? ++last;
  numbers.set(file, number);
  return number;
}

/** Whether a file is a workbook, of which no part can be read alone. */
const isWorkbook = (file: Blob): boolean => file instanceof File && /\.xls[xm]$/i.test(file.name);

/** The headers of a list that is sent as it is. */
export const headersFor = (file: Blob): Record<string, string> => ({
  "Content-Type": isWorkbook(file)
    ? "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    : "text/csv",
});

/** The beginning of a file, up to the end of a line. */
async function beginningOf(file: Blob): Promise<Blob> {
  if (file.size <= LOOKED_AT || isWorkbook(file)) return file;
  const part = new Uint8Array(await file.slice(0, LOOKED_AT).arrayBuffer());
  const end = part.lastIndexOf("\n".charCodeAt(0));
  return new Blob([part.slice(0, end < 0 ? part.length : end + 1)]);
}

/** What the server makes of a file; `fields` are what a person chose, by column. */
export function useLook(file: Blob | null, fields: readonly string[], name: string) {
  return useQuery({
    queryKey: ["look", file && numberOf(file), fields, name],
    queryFn: async () =>
      write("POST", "/searches/file/preview", {
        file: await beginningOf(file as Blob),
        query: { fields, name: name || nameOf(file as Blob) },
        headers: headersFor(file as Blob),
      }),
    enabled: file !== null,
    retry: false,
    gcTime: 0,
    placeholderData: (before) => before,
  });
}

export const nameOf = (file: Blob): string =>
  file instanceof File ? file.name : texts.mapping.pastedList;

/** The field of each column, as it stands now. */
export const fieldsOf = ({ columns }: Look): string[] =>
  columns.map(({ field }) => field ?? NO_FIELD);

interface MappingProps {
  look: ReturnType<typeof useLook>;
  replacesKnown: boolean;
  onFields: (fields: string[]) => void;
  onReplaceKnown: (replaces: boolean) => void;
}

export function Mapping({ look, replacesKnown, onFields, onReplaceKnown }: MappingProps) {
  const queries = useQueryClient();
  const own = useQuery({ queryKey: COLUMNS, queryFn: () => read("/company-columns") });
  if (look.error) return <Failure error={look.error} />;
  if (!look.data) return <Loading what={texts.mapping.readingTheColumns} />;
  const { columns } = look.data;
  const fields = look.data.fields.filter((field) => !isOwn(field));
  const chosen = fieldsOf(look.data);
  const choose = (place: number, field: string) =>
    // A field has one column: whoever had it before gives it up.
    onFields(chosen.map((one, at) => (at === place ? field : one === field ? NO_FIELD : one)));
  /** Make a column of one's own of a column of the file, and import it there. */
  async function makeOwn(place: number, heading: string) {
    const name = nameFor(heading);
    const known = own.data?.some((column) => column.name === name);
    try {
      const body = { name, title: heading, type: "text" as const, choices: [] };
      if (!known) await write("POST", "/company-columns", { body });
      await queries.invalidateQueries({ queryKey: COLUMNS });
      choose(place, `${OWN}${name}`);
    } catch (error) {
      toastError(error);
    }
  }
  const ownOptions = (own.data ?? []).map(({ name, title }) => ({
    value: `${OWN}${name}`,
    label: texts.mapping.yourColumn(title),
  }));
  return (
    <div className="stack">
      <Table
        label={texts.mapping.columnsOfTheFile}
        rows={columns.map((column, place) => ({ ...column, place }))}
        keyOf={({ place }) => String(place)}
        columns={[
          {
            name: texts.mapping.column,
            show: ({ heading, place }) => (
              <span className="foreign heading">
                {heading || texts.mapping.columnNumber(place + 1)}
              </span>
            ),
          },
          {
            name: texts.mapping.firstValues,
            show: ({ examples }) => <span className="foreign soft">{examples.join(" · ")}</span>,
          },
          {
            name: texts.mapping.importedAs,
            show: ({ heading, place }) => (
              <Select
                bare
                label={texts.mapping.importAs(heading || texts.mapping.columnInWords(place + 1))}
                value={chosen[place] ?? NO_FIELD}
                options={[
                  { value: NO_FIELD, label: texts.mapping.keepAsItIs },
                  ...(heading ? [{ value: NEW_COLUMN, label: texts.mapping.newColumn }] : []),
                  ...ownOptions,
                  ...fields.map((value) => ({ value, label: fieldWord(value) })),
                ]}
                onChange={({ target }) => {
                  if (target.value === NEW_COLUMN) void makeOwn(place, heading);
                  else choose(place, target.value);
                }}
              />
            ),
          },
        ]}
      />
      <Found look={look.data} />
      {look.data.known_companies > 0 && (
        <Differences look={look.data} replaces={replacesKnown} onReplace={onReplaceKnown} />
      )}
    </div>
  );
}

function Found({ look }: { look: Look }) {
  if (look.rows === 0) {
    return (
      <p role="status" className="bad">
        {texts.mapping.chooseTheColumnWithTheName}
      </p>
    );
  }
  const duplicates = look.duplicates ? texts.mapping.andDuplicates(look.duplicates) : "";
  return (
    <div className="stack" role="status">
      <p>{texts.mapping.ofTheFirst(look.rows, look.places, duplicates, look.problems_count)}</p>
      <LineProblems problems={look.problems} />
    </div>
  );
}
