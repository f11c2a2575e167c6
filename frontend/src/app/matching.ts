/** Entries whose names have all the words; those that begin with them come first. */
export function matching<T extends { name: string }>(entries: readonly T[], words: string): T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = wanted.join(" ");
  return entries
    .filter(({ name }) => wanted.every((word) => name.toLowerCase().includes(word)))
    .map((entry) => ({ entry, isFirst: entry.name.toLowerCase().startsWith(whole) }))
    .sort((one, other) => Number(other.isFirst) - Number(one.isFirst))
    .map(({ entry }) => entry);
}
