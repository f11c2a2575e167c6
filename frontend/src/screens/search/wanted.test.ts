import { describe, expect, it } from "vitest";
import type { Estimate, Source } from "./data";
import { NOTHING, remaining, searchesOf, summed, type Wanted } from "./wanted";

const form = (given: Partial<Wanted>): Wanted => ({ ...NOTHING, source: "osm", ...given });

describe("the searches of a form", () => {
  it("are every kind in every place, each once", () => {
    const { searches } = searchesOf(
      form({ what: "dentists\nbakeries; dentists", where: "Austin, TX\nDallas, TX" }),
    );
    expect(searches.map((one) => `${one.business_type} in ${one.location}`)).toEqual([
      "dentists in Austin, TX",
      "dentists in Dallas, TX",
      "bakeries in Austin, TX",
      "bakeries in Dallas, TX",
    ]);
  });
  it("carry radius, budget and limit only where they are said", () => {
    expect(
      searchesOf(form({ what: "a", where: "b", radiusKm: "2", budget: "5" })).searches,
    ).toEqual([{ business_type: "a", location: "b", radius_m: 2000, source: "osm", budget: 5 }]);
    expect(searchesOf(form({ what: "a", where: "b" })).searches).toEqual([
      { business_type: "a", location: "b", source: "osm" },
    ]);
  });
  it("can be written back into the form when some could not start", () => {
    const { searches } = searchesOf(form({ what: "a\nb", where: "x\ny" }));
    expect(remaining(searches.slice(2))).toEqual({ what: "b", where: "x\ny" });
  });
  it("can stand around a point", () => {
    const { searches } = searchesOf(
      form({ what: "a", mode: "point", point: { latitude: 1, longitude: 2 }, radiusKm: "3" }),
    );
    expect(searches[0]?.area).toEqual({ circle: [1, 2, 3000] });
  });
  it("need a budget where the source costs money, and a file where it reads one", () => {
    const source: Source = {
      name: "x",
      is_ready: true,
      why: null,
      needs: null,
      needs_budget: true,
      takes: [],
      licence: null,
      attribution: null,
    };
    const asked = form({ what: "a", where: "b" });
    expect(searchesOf(asked, source).missing).toMatch(/budget/);
    expect(searchesOf({ ...asked, budget: "1" }, source).missing).toBeNull();
    expect(searchesOf(asked, { ...source, is_ready: false }).missing).toMatch(/not set up/);
    const files = { ...source, takes: ["file"] };
    expect(searchesOf(asked, files).missing).toMatch(/file/);
    expect(searchesOf({ ...asked, file: "p.csv" }, files).searches).toEqual([
      { source: "osm", file: "p.csv", business_type: "a" },
    ]);
  });
  it("are none while something is missing, and say what", () => {
    expect(searchesOf(form({ what: " ;\n", where: "x" })).missing).toMatch(/business type/);
    expect(searchesOf(form({ what: "x" })).missing).toMatch(/place/);
    expect(searchesOf(form({ what: "x", mode: "point" })).missing).toMatch(/point/);
    const many = Array.from({ length: 21 }, (_, place) => `k${place}`).join("\n");
    expect(searchesOf(form({ what: many, where: "x" })).missing).toMatch(/up to 20/);
  });
});

describe("what they cost together", () => {
  const one: Estimate = {
    requests_low: 1,
    requests_likely: 2,
    requests_high: 4,
    price_low: "0.032",
    price_likely: null,
    price_high: "0.1",
    free_requests: 1,
    currency: "USD",
    is_exact: true,
    notes: ["a"],
  };
  it("is the sum, and unknown if one is", () => {
    expect(summed([one, one])).toMatchObject({
      low: 2,
      high: 8,
      priceLow: 0.064,
      priceHigh: 0.2,
      free: 2,
      notes: ["a"],
    });
    expect(summed([one, { ...one, requests_high: null, is_exact: false }])).toMatchObject({
      high: null,
      isExact: false,
    });
    expect(summed([])).toBeNull();
  });
});
