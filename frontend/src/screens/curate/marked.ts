/** Cut a snippet so that the value in it can be marked, in whatever case it is written. */
export interface Part {
  text: string;
  isMark: boolean;
}

export function marked(snippet: string, value: string | null): Part[] {
  const wanted = value?.trim().toLowerCase();
  const lower = snippet.toLowerCase();
  // Some letters change their length with their case; then places would not match.
  if (!wanted || lower.length !== snippet.length) return [{ text: snippet, isMark: false }];
  const parts: Part[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) parts.push({ text: snippet.slice(from, at), isMark: false });
    parts.push({ text: snippet.slice(at, at + wanted.length), isMark: true });
    from = at + wanted.length;
  }
  if (from < snippet.length) parts.push({ text: snippet.slice(from), isMark: false });
  return parts;
}
