/** What waits to be sent. */
import { plural } from "@/kit/format";

export const texts = {
  changesNotSentYet: "Changes not sent yet",
  changes: (count: number) => plural(count, "change"),
  areSentWhen: (count: number) =>
    `${plural(count, "change")} ${count === 1 ? "is" : "are"} kept in this browser and sent in order as soon as the server is back, even if you close this tab and open it again later.`,
  named: (name: string, more: number) => (more > 0 ? `${name} and ${more} more` : name),
  discard: (name: string, said: string) => `Discard: ${name}, ${said}`,
  andMore: (more: string) => `and ${more} more`,
  everythingIsSent: "Everything is sent.",
  someoneElseChangedIt: "Someone else changed it while you were offline.",
  isNoLongerThere: "It is no longer there: someone has deleted or merged it.",
  now: "Now",
  yours: "Yours",
  keepTheirs: "Keep theirs",
  useMine: "Use mine",
  dropMine: "Discard my change",
  tryAgain: "Try again",
};
