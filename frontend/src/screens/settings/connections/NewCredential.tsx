/** Give a connection another key: it is tried, and kept only if it opens the same account. */
import { useState } from "react";
import { write } from "@/api/client";
import { Dialog, FormButtons, Input } from "@/kit";
import { texts } from "@/texts/connections";
import { useChange } from "../change";
import { CONNECTIONS } from "./shown";

interface NewCredentialProps {
  id: string;
  onClose: () => void;
}

export function NewCredential({ id, onClose }: NewCredentialProps) {
  const [credential, setCredential] = useState("");
  const { change, busy, wrong } = useChange(CONNECTIONS);

  async function keep() {
    const path = { connection_id: id };
    const body = { credential: credential.trim() };
    const kept = await change(
      () => write("PUT", "/connections/{connection_id}/credential", { path, body }),
      texts.one.credentialKept,
    );
    if (kept) onClose();
  }

  return (
    <Dialog
      title={texts.one.newCredential}
      onClose={onClose}
      onSubmit={() => void keep()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={credential.trim() === ""}>
          {texts.one.newCredential}
        </FormButtons>
      }
    >
      <Input
        label={texts.one.newCredential}
        hint={texts.form.keptEncrypted}
        error={wrong.credential}
        type="password"
        autoComplete="off"
        value={credential}
        onChange={({ target }) => setCredential(target.value)}
      />
    </Dialog>
  );
}
