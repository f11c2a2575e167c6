/** Days as people write them, and how pressing one is. */
const WEEK = 7 * 86_400_000;

/** Over, nearly over, or far away. */
export function dueTone(due: string, isOverdue: boolean, now: Date): "bad" | "warn" | "quiet" {
  if (isOverdue) return "bad";
  return new Date(due).getTime() - now.getTime() < WEEK ? "warn" : "quiet";
}

/** Today where the person sits, as a date field writes it. */
export function todayHere(now: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** The end of a day where the person sits, or now if that is still to come. */
export function momentOf(day: string, now: Date): string {
  const end = new Date(`${day}T23:59:59`);
  return (end < now ? end : now).toISOString();
}
