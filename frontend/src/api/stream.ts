/** Server-sent events out of a byte stream: the text in, the events out. */

export interface ServerEvent {
  id: string | null;
  type: string;
  data: string;
}

/** Take chunks of text as they come; give every event that is complete. */
export class EventParser {
  private rest = "";

  take(text: string): ServerEvent[] {
    const all = this.rest + text;
    // A line end of two signs may be cut between them: its first half waits for the other.
    const held = all.endsWith("\r") ? "\r" : "";
    const parts = all
      .slice(0, all.length - held.length)
      .replace(/\r\n?/g, "\n")
      .split("\n\n");
    this.rest = (parts.pop() ?? "") + held;
    return parts.map(parseEvent).filter((event) => event !== null);
  }
}

function parseEvent(block: string): ServerEvent | null {
  let id: string | null = null;
  let type = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") type = value;
    else if (field === "id") id = value;
  }
  return data.length ? { id, type, data: data.join("\n") } : null;
}
