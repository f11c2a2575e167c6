/** The forms of webhooks: a new one or a changed one, a new secret, and sending again. */
import { useState } from "react";
import type { Schemas } from "@/api/types";
import { Button, Checkbox, Dialog, FormButtons, Input, Select, toast } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/webhooks";
import { todayHere } from "./due";

type Webhook = Schemas["WebhookOut"];
const EVERYTHING = "*";
const CHOSEN_FIRST = ["company.*", "contact.*", "person.*", "search.finished"];

interface WebhookFormProps {
  webhook?: Webhook;
  busy: boolean;
  wrong: Record<string, string>;
  onSave: (body: Schemas["WebhookIn"]) => void;
  onClose: () => void;
}

export function WebhookForm({ webhook, busy, wrong, onSave, onClose }: WebhookFormProps) {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [name, setName] = useState(webhook?.name ?? "");
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? CHOSEN_FIRST);
  const [format, setFormat] = useState<Schemas["WebhookOut"]["format"]>(webhook?.format ?? "event");
  const [ignored, setIgnored] = useState((webhook?.ignored_actors ?? []).join(", "));
  const isReady = url.trim() !== "" && events.length > 0;
  // What a program chose more finely stays as it is.
  const offered = [...new Set([...Object.keys(texts.kinds), ...events])];
  function toggle(event: string) {
    if (events.includes(event)) setEvents(events.filter((one) => one !== event));
    else if (event === EVERYTHING) setEvents([EVERYTHING]);
    else setEvents([...events.filter((one) => one !== EVERYTHING), event]);
  }
  function save() {
    if (!isReady) return;
    onSave({
      url: url.trim(),
      ...(name.trim() ? { name: name.trim() } : {}),
      events: [...events],
      format,
      ignored_actors: ignored
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean),
    });
  }
  return (
    <Dialog
      title={webhook ? texts.changeIt : texts.add}
      onClose={onClose}
      onSubmit={save}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {webhook ? common.save : texts.add}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={texts.address}
          hint={texts.httpsAddress}
          error={wrong.url}
          type="url"
          placeholder={texts.https}
          maxLength={2000}
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <Input
          label={common.name}
          error={wrong.name}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <fieldset className="stack">
          <legend>{texts.events}</legend>
          {offered.map((event) => (
            <Checkbox
              key={event}
              label={texts.kinds[event] ?? event}
              checked={events.includes(event)}
              onChange={() => toggle(event)}
            />
          ))}
        </fieldset>
        <Select
          label={texts.format}
          value={format}
          options={Object.entries(texts.formats).map(([value, label]) => ({ value, label }))}
          onChange={(event) => setFormat(event.target.value as typeof format)}
        />
        <Input
          label={texts.ignored}
          hint={texts.ignoredHint}
          error={wrong.ignored_actors}
          value={ignored}
          onChange={(event) => setIgnored(event.target.value)}
        />
      </div>
    </Dialog>
  );
}

interface FormProps<Body> {
  name: string;
  busy: boolean;
  onSave: (body: Body) => void;
  onClose: () => void;
}

export function NewSecret({ name, busy, onSave, onClose }: FormProps<number>) {
  const [hours, setHours] = useState("24");
  return (
    <Dialog
      title={texts.newSecretFor(name)}
      onClose={onClose}
      onSubmit={() => onSave(Number(hours))}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={hours === ""}>
          {texts.makeSecret}
        </FormButtons>
      }
    >
      <Input
        label={texts.overlap}
        hint={texts.overlapHint}
        type="number"
        min={0}
        max={720}
        value={hours}
        onChange={(event) => setHours(event.target.value)}
      />
    </Dialog>
  );
}

export function Replay({ name, busy, onSave, onClose }: FormProps<Schemas["ReplayIn"]>) {
  const [day, setDay] = useState(todayHere(new Date()));
  const [which, setWhich] = useState("failed");
  const options = [
    { value: "failed", label: texts.onlyGivenUp },
    { value: "all", label: texts.everyChange },
  ];
  function save() {
    if (!day) return;
    const since = new Date(`${day}T00:00:00`).toISOString();
    onSave({ since, failed_only: which === "failed" });
  }
  return (
    <Dialog
      title={texts.replayTitle(name)}
      onClose={onClose}
      onSubmit={save}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!day}>
          {texts.replay}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={texts.from}
          type="date"
          value={day}
          onChange={(event) => setDay(event.target.value)}
        />
        <Select
          label={texts.which}
          value={which}
          options={options}
          onChange={(event) => setWhich(event.target.value)}
        />
      </div>
    </Dialog>
  );
}

export function ShownSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      title={texts.copyTheSecret}
      onClose={onClose}
      actions={
        <Button
          look="primary"
          icon="copy"
          onClick={() =>
            void navigator.clipboard
              .writeText(secret)
              .then(() => toast({ kind: "good", text: texts.copied }))
              .catch(() => toast({ text: texts.selectAndCopy }))
          }
        >
          {texts.copy}
        </Button>
      }
    >
      <p className="soft">{texts.secretIsShownOnce}</p>
      <p className="secret">
        <code>{secret}</code>
      </p>
    </Dialog>
  );
}
