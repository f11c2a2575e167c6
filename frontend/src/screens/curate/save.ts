/** Save edits: kept in the browser first, so that nothing is lost while the server is away. */
import { read } from "@/api/client";
import type { Kind } from "@/api/kinds";
import type { Fields } from "@/api/outbox/entry";
import { outbox } from "@/api/outbox/outbox";
import { toast, toastError } from "@/kit";
import { texts } from "@/texts/curate";
import { writtenIn } from "./EditCell";
import { tagsIn } from "./edit";
import { fieldWord } from "./filters";
import type { DetailAnswer, Row } from "./model";

/**
 * Save what was edited of one record, and say so. Someone else's edit in between is an
 * ApiError of status 412; while the server is away the error comes later, apart.
 */
export async function saveEdit(
  kind: Kind,
  { record, etag }: Pick<DetailAnswer, "record" | "etag">,
  body: Fields,
): Promise<void> {
  const names = Object.keys(body);
  if (names.length === 0) return;
  const { soon } = await outbox.submit({
    method: "PATCH",
    path: `${kind.path}/${record.id}`,
    body,
    etag,
    kind: kind.path,
    records: [
      {
        id: record.id,
        name: kind.label(record),
        before: Object.fromEntries(names.map((name) => [name, record[name]])),
        after: body,
      },
    ],
    said: names.map(fieldWord).join(", "),
  });
  saySaved((await soon).state === "late");
}

/** Save one cell of a lead, unless someone else has written there meanwhile. */
export async function saveCell(kind: Kind, row: Row, field: string, value: string): Promise<void> {
  try {
    const now = await read("/companies/{record_id}", { path: { record_id: row.id } });
    const record = now.record as unknown as Row;
    if (writtenIn(record, field) !== writtenIn(row, field)) {
      toast({ kind: "bad", text: texts.edit.someoneElseChangedThisTo(writtenIn(record, field)) });
      return;
    }
    await saveEdit(kind, { record, etag: now.etag }, changeOf(field, value.trim()));
  } catch (error) {
    toastError(error);
  }
}

const OWN = "own.";

function changeOf(field: string, value: string): Fields {
  if (field === "tags") return { tags: tagsIn(value) };
  if (field.startsWith(OWN)) return { own: { [field.slice(OWN.length)]: value || null } };
  return { [field]: value || null };
}

export function saySaved(isLate: boolean): void {
  if (isLate) toast({ text: texts.save.savedHere, hint: texts.save.itIsSentWhenTheServerIsBack });
  else toast({ kind: "good", text: texts.save.saved });
}
