import { QueryClient, QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef } from "react";
import { onLoginNeeded } from "@/api/client";
import { events, useConnection, useLive } from "@/api/events";
import { useKinds } from "@/api/kinds";
import { ApiError } from "@/api/problem";
import { Button, Empty, Failure, Loading, Toasts } from "@/kit";
import { texts } from "@/texts/app";
import { Boundary } from "./Boundary";
import { listenToKeys } from "./keys";
import { Layout } from "./Layout";
import { retried } from "./retried";
import { go, match, usePath } from "./router";
import { navigation, OTHER_ADDRESSES, resolved, SCREENS, SETTINGS } from "./routes";
import { INVITATION, SESSION, type Session, useSession } from "./session";

const Invitation = lazy(retried(() => import("./Invitation")));
const Login = lazy(retried(() => import("./Login")));

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the server refused it will refuse again; what got lost may come through.
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 3,
      retryDelay: (attempt) => Math.min(5000, 400 * 2 ** attempt),
      // What failed for a reason that passes is asked again until it works.
      refetchInterval: ({ state: { error } }) =>
        error && !(error instanceof ApiError && error.status < 500) ? 3000 : false,
    },
  },
});

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Suspense fallback={<Loading what={texts.app.openingScrapersky} />}>
        <Inside />
      </Suspense>
      <Toasts />
    </QueryClientProvider>
  );
}

function Inside() {
  const client = useQueryClient();
  const session = useSession();
  const isInvited = usePath() === INVITATION;
  const isHere = Boolean(session.data);
  // Asked for at once, beside the session: nobody waits for one and then for the other.
  const known = useKinds(session.data !== null);
  useEffect(() => {
    onLoginNeeded(() => client.setQueryData(SESSION, null));
    return listenToKeys();
  }, [client]);
  useEffect(() => (isHere ? events.start() : undefined), [isHere]);
  useLive("reset", () => void client.invalidateQueries());
  useFreshAfterLoss();
  if (isInvited) return <Invitation />;
  if (session.isPending) return <Loading what={texts.app.openingScrapersky} />;
  if (session.error) return <Unopened error={session.error} retry={session.refetch} />;
  if (!session.data) return <Login />;
  if (known.error && !known.data) return <Unopened error={known.error} retry={known.refetch} />;
  if (!known.data) return <Loading what={texts.app.openingScrapersky} />;
  return (
    <Layout session={session.data}>
      <CurrentScreen session={session.data} />
    </Layout>
  );
}

function Unopened({ error, retry }: { error: unknown; retry: () => Promise<unknown> }) {
  return (
    <main className="login">
      <Failure error={error} retry={() => void retry()} />
    </main>
  );
}

/** What stands on the window's tab. */
function titleOf(path: string): string {
  const places = [...navigation().flatMap((group) => group.places), SETTINGS];
  const here = places.find(({ to }) => path.startsWith(to));
  return here ? texts.app.windowTitle(here.name) : texts.app.scrapersky;
}

/** What could not be asked while the server was away is asked when it is back. */
function useFreshAfterLoss(): void {
  const client = useQueryClient();
  const connection = useConnection();
  const wasLost = useRef(false);
  useEffect(() => {
    if (connection === "lost") wasLost.current = true;
    if (connection !== "live" || !wasLost.current) return;
    wasLost.current = false;
    void client.invalidateQueries();
  }, [connection, client]);
}

function CurrentScreen({ session }: { session: Session }) {
  const path = resolved(usePath(), session);
  const wanted = OTHER_ADDRESSES[path];
  useEffect(() => {
    if (wanted) go(wanted + location.search, { replace: true });
  }, [wanted]);
  useEffect(() => {
    document.title = titleOf(path);
  }, [path]);
  for (const { pattern, Component } of SCREENS) {
    const params = match(pattern, path);
    if (!params) continue;
    return (
      <Boundary key={path}>
        <Suspense fallback={<Loading />}>
          <Component params={params} />
        </Suspense>
      </Boundary>
    );
  }
  if (wanted) return <Loading />;
  return (
    <Empty
      icon="search"
      title={texts.app.pageNotFound}
      actions={
        <Button look="primary" onClick={() => go("/")}>
          {texts.app.goHome}
        </Button>
      }
    />
  );
}
