/** Numbers, times and sizes: which language's, and the words beside them. */
export const texts = {
  /** As browsers name it, for numbers and money. */
  language: "en",
  /** The same for dates, which British and American people write differently. */
  dates: "en-GB",
  underOneSecond: "under 1 s",
  day: "d",
  hour: "h",
  minute: "min",
  second: "s",
  now: "now",
  ago: (length: string) => `${length} ago`,
  soon: (length: string) => `in ${length}`,
  percent: (share: number | string) => `${share} %`,
  sizes: ["B", "kB", "MB", "GB", "TB"],
  counted: (count: number, number: string, one: string, many: string) =>
    `${number} ${count === 1 ? one : many}`,
};
