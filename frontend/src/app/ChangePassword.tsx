/** A person changes their own password. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fieldErrors } from "@/api/problem";
import { Dialog, FormButtons, Input, toast, toastError } from "@/kit";
import { changePassword } from "./session";

export function ChangePassword({ onClose }: { onClose: () => void }) {
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
      toast({ kind: "good", text: "Your password is changed. Other sessions were ended." });
      onClose();
    } catch (error) {
      const found = fieldErrors(error);
      setWrong(found);
      if (Object.keys(found).length === 0) toastError(error);
      setBusy(false);
    }
  }

  return (
    <Dialog
      title="Change your password"
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          Change password
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label="Current password"
          type="password"
          autoComplete="current-password"
          error={wrong.current}
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <Input
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 10 characters."
          error={wrong.password}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
