import { type RefObject, useLayoutEffect, useState } from "react";

/** How wide an element is, in pixels, now and whenever that changes. */
export function useWidth(element: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const watch = new ResizeObserver(() => setWidth(found.clientWidth));
    setWidth(found.clientWidth);
    watch.observe(found);
    return () => watch.disconnect();
  }, [element]);
  return width;
}
