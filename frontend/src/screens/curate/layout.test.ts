import { describe, expect, it } from "vitest";
import type { Column } from "@/api/kinds";
import { arranged, bounded, moved, readLayout, writeLayout } from "./layout";

const columns = ["name", "phone", "email", "city"].map((field) => ({ field, width: 8, grow: 1 }));
const all = columns as unknown as Column[];
const fields = (some: readonly Column[]) => some.map(({ field }) => field);

describe("the columns of a list", () => {
  it("are read and written with their widths", () => {
    const written = ["email:18.5", "phone", "own.next_visit:7"];
    const { order, widths } = readLayout(written);

    expect(order).toEqual(["email", "phone", "own.next_visit"]);
    expect(widths).toEqual({ email: 18.5, "own.next_visit": 7 });
    expect(writeLayout(order, widths)).toEqual(written);
  });

  it("stand in their order, and what is new stands last", () => {
    const layout = { flipped: [], order: ["city", "email"], widths: { email: 20 } };

    const shown = arranged(all, layout, "name");

    expect(fields(shown)).toEqual(["name", "city", "email", "phone"]);
    expect(shown.find(({ field }) => field === "email")).toMatchObject({ width: 20, grow: 0 });
  });

  it("change places, but never with the first, which names the record", () => {
    expect(fields(moved(all, "city", "phone"))).toEqual(["name", "city", "phone", "email"]);
    expect(fields(moved(all, "phone", "city"))).toEqual(["name", "email", "city", "phone"]);
    expect(fields(moved(all, "city", "name"))).toEqual(fields(all));
    expect(fields(moved(all, "name", "city"))).toEqual(fields(all));
  });

  it("have a width that can be seen and fits the window", () => {
    expect([bounded(0), bounded(7.26), bounded(900)]).toEqual([3, 7.3, 60]);
  });
});
