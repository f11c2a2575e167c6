/** Reasons as the stages write them, in words for people. */

/** What stands before the colon of a failed fetch. */
const HEADS: Record<string, string> = {
  too_slow: "Too slow",
  too_big: "Too big",
  bad_http: "Broken answer",
  bad_tls: "No secure connection",
  blocked_addr: "Not a public address",
  blocked_scheme: "Not a web address",
  bad_url: "Not an address",
  dns_error: "Name not found",
  connect_error: "No connection",
  redirect_limit: "Sent on too often",
  robots_denied: "Not allowed by robots.txt",
  trap: "Without end",
  not_html: "Not a web page",
  bad_xml: "Not a sitemap",
  backoff: "Asked to wait",
  unforeseen: "Unforeseen",
};

const ANSWERS: Record<string, string> = {
  400: "bad request",
  401: "login needed",
  403: "forbidden",
  404: "not found",
  410: "gone for good",
  429: "too many requests",
  500: "error of its own",
  502: "bad gateway",
  503: "not available",
  504: "gateway too slow",
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
