/** What went wrong, in words for the person in front of the page. */

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
    super(problem.detail || problem.title || `The server answered with status ${status}.`);
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
    super("The server is not responding.", { cause });
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
      title: "The server is not responding.",
      hint: "Check that ScraperSky is running; this page reconnects by itself.",
      details: [],
    };
  }
  if (error instanceof ApiError) {
    return {
      title: error.message,
      hint: error.hint ?? usualHint(error.status),
      details: error.fields.map(({ where, what }) => `${where.replace(/^body\./, "")}: ${what}`),
    };
  }
  return {
    title: "Something went wrong on this page.",
    hint: "Reload the page. Your decisions are saved on the server.",
    details: error instanceof Error ? [error.message] : [],
  };
}

/** What is wrong with which field of a form, to say it beside the field. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.fields.map(({ where, what }) => [where.replace(/^body\./, ""), what]),
  );
}

function usualHint(status: number): string | null {
  if (status === 403) return "Ask an administrator for permission.";
  if (status === 404) return "It may have been deleted or merged by someone else.";
  if (status === 409 || status === 412)
    return "Someone else changed it in the meantime. Check it again.";
  if (status === 429) return "Wait a moment, then try again.";
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
