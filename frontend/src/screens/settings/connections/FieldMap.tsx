/** Which value of ours goes into which field of theirs, by its label; who wins; options by table. */
import { useState } from "react";
import { write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Button, Failure, Input, Loading, Panel, Select, Table } from "@/kit";
import { fieldWord } from "@/screens/curate/filters";
import { texts } from "@/texts/connections";
import { useChange } from "../change";
import { useFieldsThere } from "./fields";
import { CONNECTIONS, type CrmConnection } from "./shown";

type Kind = Schemas["CrmKind"];
type Rule = Schemas["FieldRuleIn"];
type Rules = Record<string, Rule>;
type Field = Schemas["CrmFieldOut"];
const RULES: readonly NonNullable<Rule["rule"]>[] = ["fill", "ours", "theirs", "ask"];
const NOWHERE = "";

interface FieldMapProps {
  connection: CrmConnection;
  kind: Kind;
}

export function FieldMap({ connection, kind }: FieldMapProps) {
  const path = { connection_id: connection.id };
  const { change, busy } = useChange(CONNECTIONS);
  const [changed, setChanged] = useState<Rules>({});
  /** The changes that are stored already: until more is changed there is nothing to save. */
  const [stored, setStored] = useState(changed);
  const schema = useFieldsThere(connection, kind);
  if (schema.error) return <Failure error={schema.error} retry={() => void schema.refetch()} />;
  if (!schema.data) return <Loading what={texts.map.readingFields} />;
  const { fields, ours, mapping, locked } = schema.data;
  const kept = (connection.mapping[kind] ?? {}) as Rules;
  const ruleOf = (name: string): Rule => ({
    field: mapping[name] ?? null,
    rule: "fill",
    choices: {},
    ...kept[name],
    ...changed[name],
  });
  const set = (name: string, change: Partial<Rule>) =>
    setChanged({ ...changed, [name]: { ...ruleOf(name), ...change } });
  const writable = fields.filter((one) => !one.is_read_only && !locked.includes(one.name));
  const targetOf = (name: string) => fields.find((one) => one.name === ruleOf(name).field);

  async function save() {
    const body = { ...connection.mapping, [kind]: { ...kept, ...changed } };
    await change(async () => {
      await write("PUT", "/connections/{connection_id}/mapping", { path, body });
      setStored(changed);
    }, texts.map.saved);
  }

  return (
    <Panel
      flush
      title={texts.parts[kind]}
      about={texts.map.about}
      actions={
        <Button
          look="primary"
          busy={busy}
          disabled={changed === stored}
          onClick={() => void save()}
        >
          {texts.map.save}
        </Button>
      }
    >
      <Table
        label={texts.parts[kind]}
        rows={ours}
        keyOf={(name) => name}
        columns={[
          { name: texts.map.ours, show: (name) => fieldWord(name) },
          {
            name: texts.map.theirs,
            show: (name) => (
              <Select
                bare
                label={texts.map.fieldFor(fieldWord(name))}
                value={ruleOf(name).field ?? NOWHERE}
                options={[
                  { value: NOWHERE, label: texts.map.notWritten },
                  ...writable.map((one) => ({ value: one.name, label: one.label })),
                ]}
                onChange={({ target }) => set(name, { field: target.value || null, choices: {} })}
              />
            ),
          },
          {
            name: texts.map.whoWins,
            show: (name) =>
              ruleOf(name).field && (
                <Select
                  bare
                  label={texts.map.whoWinsFor(fieldWord(name))}
                  value={ruleOf(name).rule ?? "fill"}
                  options={RULES.map((value) => ({ value, label: texts.rules[value] }))}
                  onChange={({ target }) =>
                    set(name, { rule: target.value as (typeof RULES)[number] })
                  }
                />
              ),
          },
          {
            name: texts.map.options,
            show: (name) => {
              const target = targetOf(name);
              if (!target?.options.length) return null;
              return (
                <Choices
                  field={target}
                  choices={ruleOf(name).choices ?? {}}
                  onChoices={(choices) => set(name, { choices })}
                />
              );
            },
          },
        ]}
      />
    </Panel>
  );
}

interface ChoicesProps {
  field: Field;
  choices: Record<string, string>;
  onChoices: (choices: Record<string, string>) => void;
}

/** Which value of ours each option of their field stands for. */
function Choices({ field, choices, onChoices }: ChoicesProps) {
  const oursOf = (option: string) =>
    Object.keys(choices)
      .filter((ours) => choices[ours] === option)
      .join(", ");
  function set(option: string, written: string) {
    const others = Object.entries(choices).filter(([, value]) => value !== option);
    const named = written
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
    onChoices(Object.fromEntries([...others, ...named.map((ours) => [ours, option])]));
  }
  return (
    <details>
      <summary>{texts.map.optionsOf(field.options.length)}</summary>
      <div className="stack">
        {field.options.map(({ value, label }) => (
          <Input
            key={value}
            label={label}
            hint={texts.map.ourValues}
            defaultValue={oursOf(value)}
            onBlur={({ target }) => set(value, target.value)}
          />
        ))}
      </div>
    </details>
  );
}
