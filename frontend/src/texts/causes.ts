/** Why something failed: what people read for the codes that stages write. */
export const texts = {
  heads: {
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
  },
  /** What a web server means by its status. */
  answers: {
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
  },
};
