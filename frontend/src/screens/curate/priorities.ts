/** The priorities that the page offers; the API takes any number from -1000 to 1000. */
import { texts } from "@/texts/curate";

const WORDS: Readonly<Record<number, string>> = {
  100: texts.priorities.urgent,
  10: texts.priorities.high,
  0: texts.priorities.normal,
  [-10]: texts.priorities.low,
};

/** The highest first. */
export const PRIORITIES: readonly number[] = [100, 10, 0, -10];

/** `10` is "High priority"; what has no word is said as a number. */
export function priorityWord(priority: number): string {
  const word = WORDS[priority];
  return word ? texts.priorities.priority(word) : texts.priorities.priorityNumber(priority);
}
