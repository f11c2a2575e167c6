/** Phone numbers as people read them: the country, then groups. */

/** The countries whose groups we know; each pattern is the lengths of the groups. */
const GROUPS: Readonly<Record<string, (rest: string) => readonly number[]>> = {
  1: () => [3, 3, 4],
  31: (rest) => (rest.startsWith("6") ? [1, 2, 2, 2, 2] : [2, 3, 4]),
  32: () => [3, 2, 2, 2],
  33: () => [1, 2, 2, 2, 2],
  34: () => [3, 3, 3],
  39: (rest) => (/^0[26]/.test(rest) ? [2, 4, 4] : [3, 3, 4]),
  41: () => [2, 3, 2, 2],
  43: () => [1, 3, 4],
  44: (rest) => {
    if (rest.startsWith("2")) return [2, 4, 4];
    // Large towns have three digits, Edinburgh 131; freephone numbers too.
    return /^(11|1.1|[389])/.test(rest) ? [3, 3, 4] : [4, 6];
  },
  48: () => [2, 3, 2, 2],
  49: (rest) => (/^(30|40|69|89)/.test(rest) ? [2, 4, 4] : [3, 4, 4]),
  81: () => [2, 4, 4],
  351: () => [3, 3, 3],
};
const ONE_DIGIT = new Set(["1", "7"]);
const TWO_DIGITS = new Set(
  (
    "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 " +
    "64 65 66 81 82 84 86 90 91 92 93 94 95 98"
  ).split(" "),
);
const INTERNATIONAL = /^\+(\d{6,15})$/;

function countryIn(digits: string): string {
  if (ONE_DIGIT.has(digits.slice(0, 1))) return digits.slice(0, 1);
  return TWO_DIGITS.has(digits.slice(0, 2)) ? digits.slice(0, 2) : digits.slice(0, 3);
}

/** `+33465712306` is `+33 4 65 71 23 06`; what is written otherwise stays as it is. */
export function phoneShown(phone: string): string {
  const digits = INTERNATIONAL.exec(phone)?.[1];
  if (!digits) return phone;
  const country = countryIn(digits);
  const rest = digits.slice(country.length);
  const lengths = GROUPS[country]?.(rest) ?? [3, 3, 3];
  return [`+${country}`, ...grouped(rest, lengths)].join(" ");
}

/** Cut into groups of these lengths; a single digit that is left joins the last. */
function grouped(digits: string, lengths: readonly number[]): string[] {
  const groups: string[] = [];
  let from = 0;
  for (const length of lengths) {
    if (from >= digits.length) break;
    groups.push(digits.slice(from, from + length));
    from += length;
  }
  const left = digits.slice(from);
  if (left.length > 1) groups.push(left);
  else if (left) groups.push(`${groups.pop() ?? ""}${left}`);
  return groups;
}
