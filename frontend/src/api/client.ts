/**
 * One way to talk to the server. Writing carries the CSRF token and a key that makes
 * repeating it harmless, so a request whose answer was lost is simply sent again.
 */
import { ApiError, ConnectionLost, problemOf } from "./problem";
import type { paths } from "./schema";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Value = string | number | boolean | null | undefined;
export type Query = Record<string, Value | readonly Value[]>;

export interface CallOptions {
  query?: Query | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  /** Seconds to go on trying while the server does not answer. */
  timeout?: number | undefined;
}

export const BASE = "/api/v3";
const WRITING_TIMEOUT = 30;
const BUSY = new Set([502, 503, 504]);

const state = { csrf: null as string | null, loginNeeded: () => {}, connectionLost: () => {} };

/** Remember what the session says; the session screen calls this. */
export function rememberCsrf(token: string | null): void {
  state.csrf = token;
}

/** Say what happens when the server no longer knows who we are. */
export function onLoginNeeded(run: () => void): void {
  state.loginNeeded = run;
}

/** Say what happens when a request gets no answer. */
export function onConnectionLost(run: () => void): void {
  state.connectionLost = run;
}

/** Ask the server for JSON; `path` is below /api/v3. Screens use `read` and `write`. */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const answer = await send(method, path, options);
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

/** The same, but the answer as it came: for files and streams. */
export async function send(
  method: Method,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  const writes = method !== "GET";
  const request: RequestInit = {
    method,
    headers: headersOf(method, options),
    credentials: "same-origin",
    ...(options.body === undefined ? {} : { body: bodyOf(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  };
  const url = addressOf(path, options.query);
  const until = Date.now() + (options.timeout ?? (writes ? WRITING_TIMEOUT : 0)) * 1000;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await attemptOnce(url, request);
    if (answer instanceof Response && !BUSY.has(answer.status)) return checked(answer);
    const pause = pauseBefore(attempt, answer);
    if (Date.now() + pause > until) {
      if (answer instanceof Response) return checked(answer);
      throw answer;
    }
    await wait(pause, options.signal);
  }
}

async function attemptOnce(url: string, request: RequestInit): Promise<Response | ConnectionLost> {
  try {
    return await fetch(url, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    state.connectionLost();
    return new ConnectionLost(error);
  }
}

async function checked(answer: Response): Promise<Response> {
  if (answer.ok) return answer;
  const problem = await problemOf(answer);
  if (problem.status === 401) state.loginNeeded();
  throw problem;
}

export function addressOf(path: string, query?: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") search.append(name, String(one));
    }
  }
  const written = search.toString();
  return `${BASE}${path}${written ? `?${written}` : ""}`;
}

function headersOf(method: Method, options: CallOptions): Record<string, string> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") {
    headers["Idempotency-Key"] = randomKey();
    if (state.csrf) headers["X-CSRF-Token"] = state.csrf;
  }
  if (options.body !== undefined && !isRaw(options.body)) {
    headers["Content-Type"] = "application/json";
  }
  return { ...headers, ...options.headers };
}

function isRaw(body: unknown): body is Blob | FormData {
  return body instanceof Blob || body instanceof FormData;
}

function bodyOf(body: unknown): BodyInit {
  return isRaw(body) ? body : JSON.stringify(body);
}

/** crypto.randomUUID exists only on https and localhost; this works anywhere. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function pauseBefore(attempt: number, answer: Response | ConnectionLost): number {
  const asked = answer instanceof Response ? Number(answer.headers.get("Retry-After")) : 0;
  return asked > 0 ? asked * 1000 : Math.min(4000, 250 * 2 ** attempt);
}

function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

// ── Types of the routes, from the server's own description ──

type Strip<P> = P extends `${typeof BASE}${infer Rest}` ? Rest : never;
type Full<P extends string> = `${typeof BASE}${P}`;
type Json<R> = R extends { content: { "application/json": infer Body } } ? Body : undefined;
type Answer<O> = O extends { responses: infer R }
  ? R extends { 200: infer A }
    ? Json<A>
    : R extends { 201: infer A }
      ? Json<A>
      : R extends { 202: infer A }
        ? Json<A>
        : undefined
  : never;
type Body<O> = O extends { requestBody?: infer R }
  ? NonNullable<R> extends { content: { "application/json": infer B } }
    ? B
    : undefined
  : undefined;
type Params<O> = O extends { parameters: { path: infer P extends Record<string, unknown> } }
  ? P
  : undefined;
type Op<P extends string, M extends string> =
  Full<P> extends keyof paths
    ? M extends keyof paths[Full<P>]
      ? paths[Full<P>][M]
      : never
    : never;

export type Route = Strip<keyof paths & string>;
export type RouteAnswer<P extends string, M extends string = "get"> = Answer<Op<P, M>>;

interface Typed<O> extends Omit<CallOptions, "body"> {
  path?: Params<O>;
  body?: Body<O>;
  /** Sent as it is, in place of a body of JSON. */
  file?: Blob;
}

/** What every kind of record has; all have the same shapes as contacts, or domains. */
interface KindRoutes {
  "": "/contacts";
  "/export/chosen/count": "/contacts/export/chosen/count";
  "/export/count": "/contacts/export/count";
  "/facets": "/contacts/facets";
  "/fields": "/contacts/fields";
  "/status": "/contacts/status";
  "/{record_id}": "/contacts/{record_id}";
  "/{record_id}/history": "/contacts/{record_id}/history";
  "/import": "/domains/import";
  "/merge": "/contacts/merge";
  "/priority": "/domains/priority";
}

/** `read(ofKind(kind, "/facets"))`: a route of any kind, with the types that all of them have. */
export function ofKind<B extends keyof KindRoutes>(
  { path }: { readonly path: string },
  below: B,
): KindRoutes[B] {
  return `${path}${below}` as KindRoutes[B];
}

/** `read("/stages")`: a GET whose answer has the type the server declares. */
export function read<P extends Route>(
  route: P,
  options: Typed<Op<P, "get">> = {},
): Promise<Answer<Op<P, "get">>> {
  const { path, ...rest } = options;
  return call("GET", filled(route, path), rest);
}

/** `write("POST", "/stages/{stage}/pause", {path: {stage}, body: {reason}})`. */
export function write<M extends Exclude<Method, "GET">, P extends Route>(
  method: M,
  route: P,
  options: Typed<Op<P, Lowercase<M>>> = {},
): Promise<Answer<Op<P, Lowercase<M>>>> {
  const { path, file, ...rest } = options;
  return call(method, filled(route, path), file ? { ...rest, body: file } : rest);
}

export function filled(route: string, params?: Record<string, unknown>): string {
  return route.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params?.[name] ?? "")),
  );
}

export { ApiError, ConnectionLost };
