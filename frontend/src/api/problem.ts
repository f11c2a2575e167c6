/** What went wrong, in words for the person in front of the page. */
import { wordOf } from "@/kit/words";
import { texts } from "@/texts/api";

export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  hint?: string | null;
  request_id?: string | null;
  errors?: { where: string; what: string }[] | null;
}

export class ApiError extends Error {
  readonly status: number;
  readonly kind: string;
  readonly hint: string | null;
  readonly requestId: string | null;
  readonly fields: { where: string; what: string }[];

  constructor(status: number, problem: Problem) {
    super(problem.detail || problem.title || texts.problem.serverAnsweredWithStatus(status));
    this.name = "ApiError";
    this.status = status;
    this.kind = problem.type?.split("/").at(-1) ?? String(status);
    this.hint = problem.hint ?? null;
    this.requestId = problem.request_id ?? null;
    this.fields = problem.errors ?? [];
  }
}

/** The server could not be reached, or went away while it answered. */
export class ConnectionLost extends Error {
  constructor(cause?: unknown) {
    super(texts.problem.serverIsNotResponding, { cause });
    this.name = "ConnectionLost";
  }
}

export interface Explained {
  title: string;
  hint: string | null;
  details: string[];
}

/** Turn any error into a sentence, and a second one about what to do. */
export function explain(error: unknown): Explained {
  if (error instanceof ConnectionLost) {
    return {
      title: texts.problem.serverIsNotResponding,
      hint: texts.problem.checkThatScraperskyIsRunning,
      details: [],
    };
  }
  if (error instanceof ApiError) {
    return {
      title: error.message,
      hint: forPeople(error.hint) ?? usualHint(error.status),
      details: error.fields.map(({ where, what }) => `${fieldOf(where)}: ${what}`),
    };
  }
  return {
    title: texts.problem.somethingWentWrongOnThisPage,
    hint: texts.problem.reloadThePage,
    details: error instanceof Error ? [error.message] : [],
  };
}

/** A hint that names a route of the API is for who wrote the program. */
const forPeople = (hint: string | null): string | null =>
  hint?.includes("/api/v3/") ? null : hint;

/** `body.conditions.0.batch_size` is for programs; people look for "Batch size". */
const fieldOf = (where: string): string =>
  wordOf(
    where
      .replace(/(\.\d+)+$/, "")
      .split(".")
      .at(-1) ?? where,
  );

/** What is wrong with which field of a form, to say it beside the field. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.fields.map(({ where, what }) => [where.replace(/^body\./, ""), what]),
  );
}

function usualHint(status: number): string | null {
  if (status === 403) return texts.problem.askAnAdministratorForPermission;
  if (status === 404) return texts.problem.itMayHaveBeenDeleted;
  if (status === 409 || status === 412) return texts.problem.someoneElseChanged;
  if (status === 429) return texts.problem.waitAMoment;
  return null;
}

export async function problemOf(answer: Response): Promise<ApiError> {
  let problem: Problem = {};
  try {
    problem = (await answer.json()) as Problem;
  } catch {
    // Not ours: a proxy's page, perhaps. The status alone has to do.
  }
  return new ApiError(answer.status, problem);
}
