import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { read } from "@/api/client";
import { Button, Failure, Input } from "@/kit";
import { texts } from "@/texts/login";
import { login } from "./session";

/** What the server says in the address when a login through the provider ends without one. */
const ENDED: Record<string, string> = {
  refused: texts.login.yourAccountMayNotUseScrapersky,
  expired: texts.login.loginTookTooLong,
  failed: texts.login.loginThroughTheProviderFailed,
};

export default function Login() {
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
        <h1>{texts.login.logInToScrapersky}</h1>
        <ThroughProvider />
        <Input
          label={texts.login.email}
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Input
          label={texts.login.password}
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {attempt.error && <Failure error={attempt.error} />}
        <Button type="submit" look="primary" busy={attempt.isPending}>
          {texts.login.logIn}
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
        {texts.login.logInWith(ways.data.provider)}
      </a>
      <p className="small soft">{texts.login.orWithEmailAndPassword}</p>
    </>
  );
}
