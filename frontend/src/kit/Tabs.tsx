/** A few views of one thing, one at a time. Arrows move between them. */
import { type KeyboardEvent, type ReactNode, useEffect } from "react";

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly { id: T; name: ReactNode }[];
  open: T;
  onOpen: (id: T) => void;
}

export function Tabs<T extends string>({ label, tabs, open, onOpen }: TabsProps<T>) {
  function move(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const here = tabs.findIndex((tab) => tab.id === open);
    const next = tabs.at((here + step) % tabs.length);
    if (!next) return;
    onOpen(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  }
  // On a phone the open one may stand beyond the edge.
  useEffect(() => {
    document.getElementById(`tab-${open}`)?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [open]);
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`tab-${tab.id}`}
          aria-selected={tab.id === open}
          aria-controls={`panel-${tab.id}`}
          tabIndex={tab.id === open ? 0 : -1}
          onClick={() => onOpen(tab.id)}
        >
          {tab.name}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ id, children }: { id: string; children: ReactNode }) {
  return (
    <div role="tabpanel" id={`panel-${id}`} aria-labelledby={`tab-${id}`}>
      {children}
    </div>
  );
}
