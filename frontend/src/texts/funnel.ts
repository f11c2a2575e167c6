/** What a search brought, and the next step after it. */
import { plural, whole } from "@/kit/format";

export const texts = {
  funnel: {
    steps: {
      places: "Places",
      websites: "With website",
      emails: "With e-mail",
      named_people: "Named person's e-mail",
      contacted: "Contacted",
      won: "Won",
    },
  },
  find: {
    findContacts: (places: number) =>
      `Find contacts for ${places === 1 ? "this place" : `these ${whole(places)} places`}`,
    begun: (places: number) =>
      `Looking for the contacts of ${plural(places, "place")}. They appear among your leads.`,
    nothingLeft: "All of them were looked at already.",
  },
};
