/** Numbers, times and sizes as people read them. */
import { texts } from "@/texts/format";

const WHOLE = new Intl.NumberFormat(texts.language);
const SHORT = new Intl.NumberFormat(texts.language, {
  notation: "compact",
  maximumFractionDigits: 1,
});

export const whole = (count: number): string => WHOLE.format(count);

/** 1,234 stays; 1,234,567 becomes 1.2M. */
export const short = (count: number): string =>
  Math.abs(count) < 10_000 ? whole(count) : SHORT.format(count);

export function plural(count: number, one: string, many = `${one}s`): string {
  return texts.counted(count, whole(count), one, many);
}

/** A length of time in its two largest parts: "2 h 5 min". */
export function duration(seconds: number): string {
  if (seconds < 1) return texts.underOneSecond;
  const parts: [number, string][] = [
    [86_400, texts.day],
    [3600, texts.hour],
    [60, texts.minute],
    [1, texts.second],
  ];
  const first = parts.findIndex(([size]) => seconds >= size);
  let rest = Math.floor(seconds);
  const said: string[] = [];
  for (const [size, name] of parts.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count) said.push(`${count} ${name}`);
  }
  return said.join(" ");
}

/** How long ago, or how soon: "5 min ago", "in 30 s". */
export function relative(then: string | Date, now: Date = new Date()): string {
  const seconds = (now.getTime() - new Date(then).getTime()) / 1000;
  if (Math.abs(seconds) < 3) return texts.now;
  const said = duration(Math.abs(seconds)).split(" ").slice(0, 2).join(" ");
  return seconds > 0 ? texts.ago(said) : texts.soon(said);
}

/** How long ago something happened: never "in 4 s", whatever the clocks say. */
export const past = (then: string, now: number): string =>
  relative(then, new Date(Math.max(now, new Date(then).getTime())));

const EXACT = new Intl.DateTimeFormat(texts.dates, { dateStyle: "medium", timeStyle: "medium" });

export const exact = (then: string | Date): string => EXACT.format(new Date(then));

const DAY = new Intl.DateTimeFormat(texts.dates, { dateStyle: "medium", timeZone: "UTC" });

/** A date without a time: "20 Nov 2026" in every time zone. */
export const day = (date: string): string => DAY.format(new Date(`${date}T00:00:00Z`));

export function bytes(size: number): string {
  const units = texts.sizes;
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A few of many are not "0 %", and all but a few are not "100 %". */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (share > 0 && rounded === 0) return texts.percent("<1");
  if (share < 1 && rounded === 100) return texts.percent(">99");
  return texts.percent(rounded);
}

export function money(amount: number, currency = "USD"): string {
  return new Intl.NumberFormat(texts.language, { style: "currency", currency }).format(amount);
}
