/** Make or change a rule, and see at once what it would decide. */
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { write } from "@/api/client";
import { type Kind, kindNamed, kinds } from "@/api/kinds";
import { explain } from "@/api/problem";
import type { Schemas } from "@/api/types";
import { Button, Dialog, FormButtons, IconButton, Input, plural, Select, statusWord } from "@/kit";
import { FilterValue } from "@/screens/curate/FilterValue";
import { useFields } from "@/screens/curate/fields";
import {
  type Alternative,
  alternativesOf,
  type Condition,
  comparisonWord,
  conditionOf,
  type Filter,
  fieldWord,
  filterOfAll,
  needsValue,
} from "@/screens/curate/filters";
import { common } from "@/texts/common";
import { texts } from "@/texts/rules";

export type Rule = Schemas["RuleOut"];
export type Draft = Required<Schemas["RuleIn"]>;
interface RuleFormProps {
  rule: Rule | null;
  onSave: (draft: Draft) => Promise<void>;
  onClose: () => void;
}

export function filterOf({ or = [], ...first }: Condition): Filter {
  return { ...alternativeOf(first), ...(or.length ? { or: or.map(alternativeOf) } : {}) };
}

function alternativeOf({ field, comparison = "equal", value }: Schemas["Alternative"]) {
  const written = Array.isArray(value) ? value.join(",") : value;
  return { field, comparison, value: String(written ?? "") };
}

export function RuleForm({ rule, onSave, onClose }: RuleFormProps) {
  const [name, setName] = useState(rule?.name ?? "");
  const [kindName, setKindName] = useState(rule?.kind ?? "places");
  const kind = kindNamed(kindName) ?? (kinds()[0] as Kind);
  const [status, setStatus] = useState(rule?.status ?? "Selected");
  const [filters, setFilters] = useState<Filter[]>(rule?.conditions.map(filterOf) ?? []);
  const [bestFirst, setBestFirst] = useState(rule?.best_first ?? false);
  const [busy, setBusy] = useState(false);
  const statuses = kind.decisions.map((decision) => decision.status);
  const chosen = statuses.includes(status) ? status : (statuses[0] ?? "");
  const isForBestPages = kind.isWithinSiteBudget && chosen === kind.on;
  const conditions = filters
    .map((filter) => filterOfAll(alternativesOf(filter).filter(isUsable)))
    .filter((filter) => filter !== null)
    .map(conditionOf);

  async function save() {
    if (!name.trim()) return;
    setBusy(true);
    await onSave({
      name: name.trim(),
      kind: kindName as Draft["kind"],
      conditions,
      status: chosen,
      is_enabled: rule?.is_enabled ?? true,
      best_first: isForBestPages && bestFirst,
    });
    setBusy(false);
  }

  return (
    <Dialog
      title={rule ? texts.ruleForm.edit(rule.name) : texts.ruleForm.newRule}
      wide
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!name.trim()}>
          {common.save}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={common.name}
          value={name}
          maxLength={200}
          placeholder={texts.ruleForm.goodDentistsWithAWebsite}
          onChange={(event) => setName(event.target.value)}
        />
        <div className="rule-pair">
          <Select
            label={texts.ruleForm.appliesToNew}
            value={kindName}
            disabled={rule !== null}
            options={kinds().map(({ name: value, many }) => ({ value, label: many }))}
            onChange={(event) => {
              setKindName(event.target.value);
              setFilters([]);
            }}
          />
          <Select
            label={texts.ruleForm.setsThemTo}
            value={chosen}
            options={statuses
              .filter((one) => one !== "New")
              .map((value) => ({ value, label: statusWord(value, kind.status) }))}
            onChange={(event) => setStatus(event.target.value)}
          />
        </div>
        {isForBestPages && (
          <label className="small">
            <input
              type="checkbox"
              checked={bestFirst}
              onChange={(event) => setBestFirst(event.target.checked)}
            />{" "}
            {texts.ruleForm.bestPagesOfEachSiteOnly}
          </label>
        )}
        <fieldset className="conditions">
          <legend className="small soft">{texts.ruleForm.ifAllConditionsAreMet}</legend>
          {filters.map((filter, place) => (
            <ConditionGroup
              key={place}
              kind={kind}
              filter={filter}
              onChange={(next) =>
                setFilters(next ? filters.with(place, next) : filters.toSpliced(place, 1))
              }
            />
          ))}
          <Button small icon="plus" onClick={() => setFilters([...filters, emptyOf(kind)])}>
            {texts.ruleForm.addCondition}
          </Button>
        </fieldset>
        <PreviewLine kind={kind} conditions={conditions} />
      </div>
    </Dialog>
  );
}

/** Nobody knows the number of a record by heart, nor compares whole objects. */
const UNKNOWABLE = new Set(["id", "object"]);

const isUsable = ({ comparison, value }: Alternative): boolean =>
  !needsValue(comparison) || value !== "";

const emptyOf = (kind: Kind): Alternative => ({
  field: kind.columns[0]?.field ?? "",
  comparison: "contains",
  value: "",
});

interface ConditionGroupProps {
  kind: Kind;
  filter: Filter;
  /** Null: nothing is left of it. */
  onChange: (filter: Filter | null) => void;
}

/** A condition with what may hold in its place. */
function ConditionGroup({ kind, filter, onChange }: ConditionGroupProps) {
  const all = alternativesOf(filter);
  return (
    <>
      {all.map((one, place) => (
        <div key={place} className="stack">
          {place > 0 && <span className="small soft">{common.or}</span>}
          <ConditionRow
            kind={kind}
            filter={one}
            onChange={(next) => onChange(filterOfAll(all.with(place, next)))}
            onRemove={() => onChange(filterOfAll(all.toSpliced(place, 1)))}
          />
        </div>
      ))}
      <div className="row">
        <Button
          small
          look="quiet"
          icon="plus"
          onClick={() => onChange(filterOfAll([...all, emptyOf(kind)]))}
        >
          {texts.ruleForm.or}
        </Button>
      </div>
    </>
  );
}

interface ConditionRowProps {
  kind: Kind;
  filter: Alternative;
  onChange: (filter: Alternative) => void;
  onRemove: () => void;
}

function ConditionRow({ kind, filter, onChange, onRemove }: ConditionRowProps) {
  const { data: fields = [] } = useFields(kind);
  const info = fields.find(({ name }) => name === filter.field);
  const comparisons = info?.comparisons ?? [filter.comparison];
  function chooseField(field: string) {
    const allowed = fields.find(({ name }) => name === field)?.comparisons ?? [];
    const comparison = allowed.includes(filter.comparison) ? filter.comparison : allowed[0];
    onChange({ field, comparison: comparison ?? "equal", value: "" });
  }
  return (
    <div className="condition">
      <Select
        label={texts.ruleForm.field}
        bare
        value={filter.field}
        options={fields
          .filter(({ name, type }) => name === filter.field || !UNKNOWABLE.has(type))
          .map(({ name, title }) => ({ value: name, label: title ?? fieldWord(name) }))}
        onChange={(event) => chooseField(event.target.value)}
      />
      <Select
        label={texts.ruleForm.comparison}
        bare
        value={filter.comparison}
        options={comparisons.map((value) => ({ value, label: comparisonWord(value) }))}
        onChange={(event) => onChange({ ...filter, comparison: event.target.value })}
      />
      {needsValue(filter.comparison) ? (
        <FilterValue
          kind={kind}
          info={info}
          comparison={filter.comparison}
          value={filter.value}
          bare
          onChange={(value) => onChange({ ...filter, value })}
        />
      ) : (
        <span />
      )}
      <IconButton icon="trash" label={texts.ruleForm.removeCondition} small onClick={onRemove} />
    </div>
  );
}

/** What the rule would decide now; asked again while one types. */
function PreviewLine({ kind, conditions }: { kind: Kind; conditions: Condition[] }) {
  const asked = useDeferredValue(JSON.stringify(conditions));
  const preview = useQuery({
    queryKey: ["rule-preview", kind.name, asked],
    queryFn: () =>
      write("POST", "/rules/preview", {
        body: { kind: kind.name as Draft["kind"], conditions: JSON.parse(asked) },
      }),
    placeholderData: (before) => before,
    retry: false,
  });
  return (
    <div className="rule-preview" role="status">
      {preview.error ? (
        <span className="bad">{explain(preview.error).title}</span>
      ) : !preview.data ? (
        <span className="soft">{texts.ruleForm.countingMatches}</span>
      ) : (
        <>
          <strong>
            {texts.ruleForm.itWouldDecideOnNow(plural(preview.data.count, kind.one, kind.many))}
          </strong>
          <ul className="small soft">
            {preview.data.sample.slice(0, 6).map(({ id, label }) => (
              <li key={id} className="foreign cut">
                {label ?? id}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
