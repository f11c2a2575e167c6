/** Connect an account: its credential is tried before anything is kept. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Dialog, Failure, Field, FormButtons, Input, Loading, Select } from "@/kit";
import { texts } from "@/texts/connections";
import { useChange } from "../change";
import { CONNECTIONS } from "./shown";

type Option = Schemas["ConnectorOptionOut"];
/** An option that is a document, and not a line. */
const LONG = "description";

interface ConnectProps {
  onClose: () => void;
  onMade: (id: string) => void;
}

export function Connect({ onClose, onMade }: ConnectProps) {
  const connectors = useQuery({ queryKey: ["connectors"], queryFn: () => read("/connectors") });
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState("");
  const [credential, setCredential] = useState("");
  const [options, setOptions] = useState<Record<string, string>>({});
  const { change, busy, wrong } = useChange(CONNECTIONS);
  const all = connectors.data?.items ?? [];
  const connector = all.find((one) => one.name === chosen) ?? all[0];
  const isReady =
    connector !== undefined &&
    (!connector.credential || credential.trim() !== "") &&
    connector.options.every((one) => !one.is_required || options[one.name]?.trim());

  async function connect() {
    if (!connector || !isReady) return;
    const given = Object.entries(options).filter(([, value]) => value.trim() !== "");
    const body = {
      connector: connector.name,
      ...(name.trim() ? { name: name.trim() } : {}),
      credential: credential.trim(),
      options: Object.fromEntries(given),
    };
    const made = await change(() => write("POST", "/connections", { body }), texts.form.connected);
    if (made) onMade(made.id);
  }

  return (
    <Dialog
      title={texts.form.connectACrm}
      onClose={onClose}
      onSubmit={() => void connect()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {texts.form.connect}
        </FormButtons>
      }
    >
      {connectors.error ? (
        <Failure error={connectors.error} />
      ) : !connector ? (
        <Loading />
      ) : (
        <div className="stack">
          <Select
            label={texts.form.crm}
            value={connector.name}
            options={all.map((one) => ({ value: one.name, label: one.title }))}
            onChange={({ target }) => {
              setChosen(target.value);
              setOptions({});
            }}
          />
          <Input
            label={texts.form.name}
            value={name}
            maxLength={200}
            placeholder={connector.title}
            onChange={({ target }) => setName(target.value)}
          />
          {connector.credential && (
            <Input
              label={connector.credential}
              hint={texts.form.keptEncrypted}
              error={wrong.credential}
              type="password"
              autoComplete="off"
              value={credential}
              onChange={({ target }) => setCredential(target.value)}
            />
          )}
          {connector.options.map((option) => (
            <OptionField
              key={option.name}
              option={option}
              value={options[option.name] ?? ""}
              onValue={(value) => setOptions({ ...options, [option.name]: value })}
            />
          ))}
        </div>
      )}
    </Dialog>
  );
}

interface OptionFieldProps {
  option: Option;
  value: string;
  onValue: (value: string) => void;
}

function OptionField({ option, value, onValue }: OptionFieldProps) {
  const { label, choices } = option;
  if (choices.length > 0) {
    return (
      <Select
        label={label}
        value={value || option.default}
        options={choices}
        onChange={({ target }) => onValue(target.value)}
      />
    );
  }
  if (option.name === LONG) {
    return (
      <Field label={label}>
        {(props) => (
          <textarea
            className="input mono"
            rows={6}
            spellCheck={false}
            value={value}
            onChange={({ target }) => onValue(target.value)}
            {...props}
          />
        )}
      </Field>
    );
  }
  return (
    <Input
      label={option.default ? texts.form.optional(label) : label}
      value={value}
      placeholder={option.default}
      onChange={({ target }) => onValue(target.value)}
    />
  );
}
