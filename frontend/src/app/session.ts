/** Who is at the page, and what they may do. */
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { ApiError, read, rememberCsrf, write } from "@/api/client";
import type { Permission, Session } from "@/api/types";

export type { Permission, Session };

export const SESSION = ["session"] as const;

/**
 * The session; null when a login is needed.
 *
 * On a laptop the server takes a cookie away that it refuses: the next request comes in.
 */
export async function fetchSession(): Promise<Session | null> {
  const session = (await askedForSession()) ?? (await askedForSession());
  if (session) rememberCsrf(session.csrf_token);
  return session;
}

async function askedForSession(): Promise<Session | null> {
  try {
    return await read("/session");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export function useSession() {
  return useQuery({
    queryKey: SESSION,
    queryFn: fetchSession,
    staleTime: 5 * 60_000,
    // A page opened while the server is away opens by itself when it is back.
    refetchInterval: ({ state }) => (state.error && !state.data ? 3000 : false),
  });
}

/** Whether the person may do something; buttons for what they may not are not shown. */
export function useMay(permission: Permission): boolean {
  const { data } = useSession();
  return data?.permissions.includes(permission) ?? false;
}

export async function login(queries: QueryClient, email: string, password: string): Promise<void> {
  enter(queries, await write("POST", "/session", { body: { email, password }, timeout: 5 }));
}

export const INVITATION = "/invitation";

/** The link that a person is sent; what comes after # never reaches a server's log. */
export const invitationLink = (token: string): string => `${location.origin}${INVITATION}#${token}`;

/** Choose a password with an invitation, and be logged in. */
export async function accept(queries: QueryClient, token: string, password: string): Promise<void> {
  const session = await write("POST", "/session/invitation", { body: { token, password } });
  enter(queries, session);
}

export async function changePassword(
  queries: QueryClient,
  current: string,
  password: string,
): Promise<void> {
  const session = await write("POST", "/session/password", { body: { current, password } });
  rememberCsrf(session.csrf_token);
  queries.setQueryData(SESSION, session);
}

function enter(queries: QueryClient, session: Session): void {
  rememberCsrf(session.csrf_token);
  forgetOthers(queries);
  queries.setQueryData(SESSION, session);
}

export async function logout(queries: QueryClient): Promise<void> {
  await write("DELETE", "/session");
  rememberCsrf(null);
  forgetOthers(queries);
  queries.setQueryData(SESSION, null);
}

/** Forget what the person before has read; who is here is asked about by the whole page. */
function forgetOthers(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}
