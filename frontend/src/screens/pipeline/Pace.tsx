/** Change how fast a stage works, in every process and without a restart. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { write } from "@/api/client";
import { rememberStage, type Stage } from "@/api/pipeline";
import { fieldErrors } from "@/api/problem";
import { useMay } from "@/app/session";
import { Button, Dialog, IconButton, Input, Select, toast, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/pipeline";
import {
  type Changes,
  changeHint,
  changesOf,
  formOf,
  NAMES,
  paceInWords,
  startedWith,
  undoing,
  WORDS,
} from "./limits";

export function PaceButton({ stage }: { stage: Stage }) {
  const [isOpen, setOpen] = useState(false);
  const { change, busy, error, forget } = useChange(stage, () => setOpen(false));
  const may = useMay("operate");
  if (!may) return null;
  return (
    <>
      <IconButton
        small
        icon="clock"
        label={texts.pace.changeThePaceOf(stage.title.toLowerCase())}
        onClick={() => {
          forget();
          setOpen(true);
        }}
      />
      {isOpen && (
        <PaceDialog
          stage={stage}
          busy={busy}
          wrong={fieldErrors(error)}
          onChange={change}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** Send changes; say that they hold, with a way back, or why they are refused. */
function useChange(stage: Stage, onDone: () => void) {
  const queries = useQueryClient();
  const sent = useMutation({
    mutationFn: ({ changes }: { changes: Changes; back?: Changes }) =>
      write("PATCH", "/stages/{stage}", { path: { stage: stage.stage }, body: changes }),
    onSuccess: (answer, { back }) => {
      rememberStage(queries, answer);
      onDone();
      toast({
        kind: "good",
        about: `pace of ${stage.stage}`,
        text: texts.pace.runsEveryProcessFollowsWithinSeconds(stage.title, answer.pace),
        action: back && { name: common.undo, run: () => sent.mutate({ changes: back }) },
      });
    },
    onError: (error) => {
      if (Object.keys(fieldErrors(error)).length === 0) toastError(error);
    },
  });
  return {
    // What held before: when the answer is here, the stream may have said what holds now.
    change: (changes: Changes) => sent.mutate({ changes, back: undoing(stage, changes) }),
    busy: sent.isPending,
    error: sent.error,
    forget: sent.reset,
  };
}

interface PaceDialogProps {
  stage: Stage;
  busy: boolean;
  /** What is wrong with which field. */
  wrong: Record<string, string>;
  onChange: (changes: Changes) => void;
  onClose: () => void;
}

function PaceDialog({ stage, busy, wrong, onChange, onClose }: PaceDialogProps) {
  const [before] = useState(() => formOf(stage));
  const [form, setForm] = useState(before);
  const changes = changesOf(before, form);
  const changedNames = NAMES.filter((name) => stage.changed?.[name] != null);
  const hasAsked = Object.keys(changes).length > 0;
  const type = (name: keyof typeof form) => (event: { target: { value: string } }) =>
    setForm({ ...form, [name]: event.target.value });
  return (
    <Dialog
      title={texts.pace.paceOf(stage.title.toLowerCase())}
      onClose={onClose}
      onSubmit={() => hasAsked && onChange(changes)}
      actions={
        <>
          {changedNames.length > 0 && (
            <Button
              icon="undo"
              disabled={busy}
              onClick={() => onChange(Object.fromEntries(changedNames.map((name) => [name, null])))}
            >
              {texts.pace.resetAll}
            </Button>
          )}
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" look="primary" busy={busy} disabled={!hasAsked}>
            {common.save}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p className="soft">{texts.pace.appliesToEveryProcessWithinSeconds}</p>
        <Select
          label={WORDS.pace}
          value={form.pace}
          error={wrong.pace}
          hint={paceInWords(stage, form)}
          options={[
            { value: "", label: texts.pace.asStarted(startedWith(stage, "pace")) },
            { value: "eager", label: texts.pace.atOnce },
            { value: "interval", label: texts.pace.atSetTimes },
          ]}
          onChange={type("pace")}
        />
        <div className="pace-fields">
          {NAMES.filter((name) => name !== "pace").map((name) => (
            <Input
              key={name}
              type="number"
              step="any"
              label={WORDS[name]}
              value={form[name]}
              error={wrong[name]}
              hint={changeHint(stage, name)}
              placeholder={startedWith(stage, name)}
              onChange={type(name)}
            />
          ))}
        </div>
      </div>
    </Dialog>
  );
}
