import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { read } from "@/api/client";
import { Button, Failure, Input } from "@/kit";
import { login } from "./session";

/** What the server says in the address when a login through the provider ends without one. */
const ENDED: Record<string, string> = {
  refused: "Your account may not use ScraperSky. Ask an administrator to invite you.",
  expired: "The login took too long, or began in another browser. Please try again.",
  failed: "The login through the provider failed. Please try again.",
};

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
        <ThroughProvider />
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

/** The team's own door, where there is one. */
function ThroughProvider() {
  const ways = useQuery({ queryKey: ["login-ways"], queryFn: () => read("/session/ways") });
  const place = new URLSearchParams(location.search);
  const ended = ENDED[place.get("login") ?? ""];
  place.delete("login");
  const rest = place.toString();
  const back = `${location.pathname}${rest ? `?${rest}` : ""}`;
  if (!ways.data?.provider) return null;
  return (
    <>
      {ended && <p role="alert">{ended}</p>}
      <a className="button" href={`/api/v3/session/openid?${new URLSearchParams({ back })}`}>
        Log in with {ways.data.provider}
      </a>
      <p className="small soft">Or with e-mail and password:</p>
    </>
  );
}
