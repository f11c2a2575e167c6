import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button, Failure, Input } from "@/kit";
import { login } from "./session";

export function Login() {
  const queries = useQueryClient();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const attempt = useMutation({ mutationFn: () => login(queries, email, password) });
  function submit(event: FormEvent) {
    event.preventDefault();
    attempt.mutate();
  }
  return (
    <main className="login">
      <form className="panel login-box" onSubmit={submit}>
        <img src="/icon.svg" width={44} height={44} alt="" />
        <h1>Log in to ScraperSky</h1>
        <Input
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Input
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {attempt.error && <Failure error={attempt.error} />}
        <Button type="submit" look="primary" busy={attempt.isPending}>
          Log in
        </Button>
      </form>
    </main>
  );
}
