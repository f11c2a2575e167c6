/** What came of the work: searches, people, categories and areas. */
import { plural, whole } from "@/kit/format";

export const texts = {
  screen: {
    results: "Results",
    about: "What your searches brought, whom you contacted, and where you have no leads yet.",
  },
  funnels: {
    title: "From place to deal",
    about: "Each bar is a part of the places that the search found.",
    search: "Search",
    none: "No searches yet.",
    cost: (spent: string) => `${spent} spent`,
  },
  work: {
    title: "Contacted and won",
    about:
      "Per person and week. Each lead counts once, by its status now; a won lead was contacted, too.",
    none: "Nobody has been contacted yet. Press c on a lead when you have contacted it.",
    contacted: "Contacted",
    replied: "Replied",
    won: "Won",
    unknown: "Without an account",
    week: (day: string) => `Week of ${day}`,
    ofWeek: (week: string, contacted: number, replied: number, won: number) =>
      `${week}: ${whole(contacted)} contacted, ${whole(replied)} replied, ${whole(won)} won`,
    person: "Person",
    weeks: "The last 12 weeks",
  },
  coverage: {
    title: "Coverage",
    about: "Leads by category and town; the stronger the colour, the more have a named person.",
    category: "Category",
    others: (towns: number, categories: number) =>
      `Only the largest are shown, without ${[
        towns && plural(towns, "more town"),
        categories && plural(categories, "more category", "more categories"),
      ]
        .filter(Boolean)
        .join(" and ")}.`,
    none: "No leads yet.",
    estimated: "The list is long: these numbers are estimates.",
    without: "No town",
    withoutCategory: "No category",
    cell: (category: string, city: string, companies: number, people: number) =>
      `${category} in ${city}: ${whole(companies)} leads, ${whole(people)} with a named person`,
  },
};
