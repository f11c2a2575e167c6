/** The map of the leads. */
import { plural } from "@/kit/format";

export const texts = {
  map: {
    noneHasAPlace: "Nobody knows where these leads are",
    lasso: "Draw around leads",
    drawALine: "Draw a line with the pointer",
    selectInSight: "Select all in sight",
    mapOf: (count: number) => `Map of ${plural(count, "lead")}`,
    leadsHere: (count: number) => `${plural(count, "lead")}: click to come closer`,
    withoutAPlace: (count: number) => `${plural(count, "lead")} without a place on the map`,
  },
};
