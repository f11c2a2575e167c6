/** The home of people who sell. */
import { plural, whole } from "@/kit/format";

export const texts = {
  home: {
    home: "Home",
    about: (fresh: number, due: number) =>
      [
        due ? `${plural(due, "follow-up")} due` : "Nothing is due",
        `${plural(fresh, "lead")} new this week`,
      ].join(", "),
    loading: "Loading…",
    newSearch: "New search",
    myLeads: "My leads",
    newThisWeek: "New this week",
    followUpsDue: "Follow-ups due",
    unassigned: "Not assigned",
    orMore: (count: number, most: number) => `${whole(count)}${count >= most ? "+" : ""}`,
    seeAll: "See all",
    nothingDue: "Nothing is due. Set a follow-up on a lead and it appears here on its day.",
    noneAreYours: "No lead is assigned to you yet. Select some in Companies and press a.",
    nothingNew: "No new leads this week.",
    searches: "Searches and imports",
    searchesAbout: "What the latest ones brought",
    soonCompanies: (places: number) =>
      `${plural(places, "place")} found. The companies are ready within a minute.`,
    noSearches: "No searches yet",
    noSearchesText: "Enter a business type and a place: what is found appears here.",
  },
};
