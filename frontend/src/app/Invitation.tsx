/** Where an invitation leads: choose a password, and be logged in. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { fieldErrors } from "@/api/problem";
import { Button, Failure, Input } from "@/kit";
import { texts } from "@/texts/login";
import { go } from "./router";
import { accept } from "./session";

export default function Invitation() {
  const queries = useQueryClient();
  const [token] = useState(() => location.hash.slice(1));
  const [password, setPassword] = useState("");
  const attempt = useMutation({
    mutationFn: () => accept(queries, token, password),
    onSuccess: () => go("/", { replace: true }),
  });
  const wrong = fieldErrors(attempt.error);
  function submit(event: FormEvent) {
    event.preventDefault();
    attempt.mutate();
  }
  return (
    <main className="login">
      <form className="panel login-box" onSubmit={submit}>
        <img src="/icon.svg" width={44} height={44} alt="" />
        <h1>{texts.invitation.welcomeToScrapersky}</h1>
        <Input
          label={texts.invitation.chooseAPassword}
          type="password"
          autoComplete="new-password"
          hint={texts.invitation.atLeast10Characters}
          required
          error={wrong.password}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {attempt.error && !wrong.password && <Failure error={attempt.error} />}
        <Button type="submit" look="primary" busy={attempt.isPending}>
          {texts.invitation.setPasswordAndLogIn}
        </Button>
      </form>
    </main>
  );
}
