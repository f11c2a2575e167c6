/** A person changes their own password. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, fieldErrors } from "@/api/problem";
import { Dialog, FormButtons, Input, toast, toastError } from "@/kit";
import { texts } from "@/texts/login";
import { changePassword } from "./session";

export default function ChangePassword({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const isReady = current !== "" && password !== "";

  async function save() {
    if (!isReady) return;
    setBusy(true);
    try {
      await changePassword(queries, current, password);
      toast({ kind: "good", text: texts.changePassword.yourPasswordIsChanged });
      onClose();
    } catch (error) {
      const found = fieldErrors(error);
      const isAnswered = error instanceof ApiError && error.status < 500;
      // What is wrong with no field is wrong with the password that was asked for.
      const isOfNone = Object.keys(found).length === 0;
      setWrong(isOfNone && isAnswered ? { current: error.message } : found);
      if (isOfNone && !isAnswered) toastError(error);
      setBusy(false);
    }
  }

  return (
    <Dialog
      title={texts.changePassword.changeYourPassword}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {texts.changePassword.changePassword}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={texts.changePassword.currentPassword}
          type="password"
          autoComplete="current-password"
          error={wrong.current}
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <Input
          label={texts.changePassword.newPassword}
          type="password"
          autoComplete="new-password"
          hint={texts.changePassword.atLeast10Characters}
          error={wrong.password}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
