/** The priorities that the page offers; the API takes any number from -1000 to 1000. */
const WORDS: Readonly<Record<number, string>> = {
  100: "Urgent",
  10: "High",
  0: "Normal",
  [-10]: "Low",
};

/** The highest first. */
export const PRIORITIES: readonly number[] = [100, 10, 0, -10];

/** `10` is "High priority"; what has no word is said as a number. */
export function priorityWord(priority: number): string {
  const word = WORDS[priority];
  return word ? `${word} priority` : `Priority ${priority}`;
}
