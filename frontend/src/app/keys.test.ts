import { describe, expect, it } from "vitest";
import { find, type Key, written } from "./keys";

const key = (keys: string | string[], does: string): Key => ({ keys, does, run: () => {} });
const press = (given: Partial<KeyboardEvent>) => written({ key: "", ...given } as KeyboardEvent);

describe("writing a key", () => {
  it("names letters small, with what was held", () => {
    expect(press({ key: "J", shiftKey: true })).toBe("Shift+j");
    expect(press({ key: "a", ctrlKey: true })).toBe("Mod+a");
    expect(press({ key: "a", metaKey: true })).toBe("Mod+a");
  });
  it("leaves shift out where it only makes the sign", () => {
    expect(press({ key: "?", shiftKey: true })).toBe("?");
  });
  it("names the space bar", () => {
    expect(press({ key: " " })).toBe("Space");
  });
});

describe("finding what a key does", () => {
  const page = { name: "Page", keys: [key("g p", "Pipeline"), key("j", "Down")] };
  const pane = { name: "Pane", keys: [key(["j", "ArrowDown"], "Next")] };

  it("asks the section that came last", () => {
    expect(find("j", "", [page, pane])).toMatchObject({ does: "Next" });
  });
  it("waits for the second of two", () => {
    expect(find("g", "", [page])).toBe("wait");
    expect(find("p", "g", [page])).toMatchObject({ does: "Pipeline" });
  });
  it("takes a key for itself when it does not go on", () => {
    expect(find("j", "g", [page])).toMatchObject({ does: "Down" });
    expect(find("x", "", [page])).toBeNull();
  });
});
