/** A condition on any field, put together from the field, the comparison and the value. */
import { useState } from "react";
import type { Kind } from "@/api/kinds";
import { Button, Dialog, FormButtons, Select } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import { FilterValue } from "./FilterValue";
import { useFields } from "./fields";
import {
  type Alternative,
  comparisonWord,
  type Filter,
  fieldWord,
  filterOfAll,
  needsValue,
} from "./filters";
import type { FieldInfo } from "./model";

const MOST_ALTERNATIVES = 20;

interface AddFilterProps {
  kind: Kind;
  /** The field to begin with. */
  field: string | null;
  onAdd: (filter: Filter) => void;
  onClose: () => void;
}

export default function AddFilter({ kind, field, onAdd, onClose }: AddFilterProps) {
  const { data: fields = [] } = useFields(kind);
  const empty = { field: field ?? kind.columns[0]?.field ?? "", comparison: "", value: "" };
  const [drafts, setDrafts] = useState<readonly Alternative[]>([empty]);
  const wanted = drafts.map((draft) => completed(draft, fields));
  const isReady = wanted.every(({ comparison, value }) => !needsValue(comparison) || value);
  const filter = filterOfAll(wanted);
  return (
    <Dialog
      title={texts.filterBar.filter(kind.many)}
      onClose={onClose}
      onSubmit={() => isReady && filter && onAdd(filter)}
      actions={
        <FormButtons onClose={onClose} disabled={!isReady}>
          {texts.filterBar.addFilter}
        </FormButtons>
      }
    >
      <div className="stack">
        {drafts.map((draft, place) => (
          <fieldset key={place} className="stack alternative">
            <legend className={place ? "small soft" : "unseen"}>
              {place ? common.or : texts.filterBar.showIf}
            </legend>
            <AlternativeFields
              kind={kind}
              fields={fields}
              draft={draft}
              onChange={(next) => setDrafts(drafts.with(place, next))}
            />
          </fieldset>
        ))}
        <div className="row">
          <Button
            small
            look="quiet"
            icon="plus"
            disabled={drafts.length >= MOST_ALTERNATIVES}
            onClick={() => setDrafts([...drafts, empty])}
          >
            {texts.filterBar.or}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** What is meant: a comparison that the field knows, and no spaces around the value. */
function completed(draft: Alternative, fields: readonly FieldInfo[]): Alternative {
  const info = fields.find(({ name }) => name === draft.field);
  const comparison = info?.comparisons.includes(draft.comparison)
    ? draft.comparison
    : preferred(info);
  const value = needsValue(comparison) ? draft.value.trim() : "";
  return { field: draft.field, comparison, value };
}

interface AlternativeFieldsProps {
  kind: Kind;
  fields: readonly FieldInfo[];
  draft: Alternative;
  onChange: (draft: Alternative) => void;
}

function AlternativeFields({ kind, fields, draft, onChange }: AlternativeFieldsProps) {
  const info = fields.find(({ name }) => name === draft.field);
  const { comparison } = completed(draft, fields);
  return (
    <>
      <Select
        label={texts.filterBar.field}
        value={draft.field}
        options={fields
          .filter(({ type }) => type !== "id" && type !== "object")
          .map(({ name, title }) => ({ value: name, label: title ?? fieldWord(name) }))}
        onChange={({ target }) => onChange({ ...draft, field: target.value, value: "" })}
      />
      <Select
        label={texts.filterBar.comparison}
        value={comparison}
        options={(info?.comparisons ?? ["equal"]).map((name) => ({
          value: name,
          label: comparisonWord(name),
        }))}
        onChange={({ target }) => onChange({ ...draft, comparison: target.value })}
      />
      {needsValue(comparison) && (
        <FilterValue
          kind={kind}
          info={info}
          comparison={comparison}
          value={draft.value}
          onChange={(value) => onChange({ ...draft, value })}
        />
      )}
    </>
  );
}

const PREFERRED: Record<string, string> = {
  text: "contains",
  number: "at_least",
  time: "at_least",
  date: "at_least",
};

function preferred(info: FieldInfo | undefined): string {
  const wanted = PREFERRED[info?.type ?? ""] ?? "equal";
  return info?.comparisons.includes(wanted) ? wanted : (info?.comparisons[0] ?? "equal");
}
