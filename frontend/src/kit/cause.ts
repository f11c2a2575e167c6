/** Reasons as the stages write them, in words for people. */

/** What stands before the colon of a failed fetch. */
const HEADS: Record<string, string> = {
  too_slow: "The website took too long",
  too_big: "Too large",
  bad_http: "Invalid response",
  bad_tls: "Secure connection failed",
  blocked_addr: "Not a public address",
  blocked_scheme: "Not a web address",
  bad_url: "Not a valid web address",
  dns_error: "Domain not found",
  connect_error: "Could not connect",
  redirect_limit: "Too many redirects",
  robots_denied: "Blocked by robots.txt",
  trap: "Endless pages",
  not_html: "Not a web page",
  bad_xml: "Not a valid sitemap",
  backoff: "The website asked us to wait",
  unforeseen: "Unexpected error",
};

const ANSWERS: Record<string, string> = {
  400: "bad request",
  401: "login required",
  403: "forbidden",
  404: "not found",
  410: "removed",
  429: "too many requests",
  500: "server error",
  502: "bad gateway",
  503: "temporarily unavailable",
  504: "gateway timeout",
};

/**
 * `too_big: https://a.example/: over 5 MB` becomes "Too big: over 5 MB". The address goes:
 * whoever reads the reason sees the record.
 */
export function causeOf(cause: string): string {
  const [, code = "", rest = ""] = /^([a-z]+(?:_[a-z]+)*)(?::\s*(.*))?$/s.exec(cause) ?? [];
  const head = HEADS[code];
  const said = (head ? rest : cause)
    .replace(/^(?:…|\w+:\/\/\S+):?(?:\s+|$)/, "")
    .replace(/\b(the server answered) (\d{3})\b(?! \()/, (all, words, status) =>
      ANSWERS[status] ? `${words} ${status} (${ANSWERS[status]})` : all,
    );
  if (head) return said ? `${head}: ${said}` : head;
  const words = said.replace(/^[a-z]+(_[a-z]+)+(?=:|$)/, (one) => one.replaceAll("_", " "));
  return words.charAt(0).toUpperCase() + words.slice(1);
}
