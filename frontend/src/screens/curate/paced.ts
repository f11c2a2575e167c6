/** Following what changes often without asking for it every time. */
import { useEffect, useRef, useState } from "react";

/** How many times as long as an answer took nothing is asked again. */
const REST = 10;
const LONGEST_MS = 30_000;

/** How long to rest after an answer that took so long: counting a million rows takes a second. */
export const restAfter = (took: number): number => Math.min(LONGEST_MS, REST * took);

/** A value as it is now, or as it was when it was last followed, for as long as that is to hold. */
export function usePaced(value: number, rest: () => number): number {
  const [followed, setFollowed] = useState(value);
  const since = useRef(0);
  useEffect(() => {
    if (followed === value) return;
    const timer = setTimeout(
      () => {
        since.current = performance.now();
        setFollowed(value);
      },
      since.current + rest() - performance.now(),
    );
    return () => clearTimeout(timer);
  }, [value, followed, rest]);
  return followed;
}
