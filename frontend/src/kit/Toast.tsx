/** Short messages at the foot of the page; an action that can be taken back offers it. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { explain } from "@/api/problem";
import { common } from "@/texts/common";
import { texts } from "@/texts/kit";
import { Button, IconButton } from "./Button";
import { Icon } from "./Icon";

export interface Toast {
  text: string;
  hint?: string | undefined;
  kind?: "good" | "bad" | "info";
  /** Offered as a button; the message goes once it has run. */
  action?: { name: string; run: () => void | Promise<void> } | undefined;
  /** Milliseconds; errors stay until they are closed. */
  stays?: number;
  /** What it is about: a message takes the place of the last one about the same. */
  about?: string;
}

type Shown = Toast & { id: number };

let shown: readonly Shown[] = [];
let counter = 0;
const watchers = new Set<() => void>();

function change(next: readonly Shown[]): void {
  shown = next;
  for (const changed of watchers) changed();
}

export function dismiss(id: number): void {
  change(shown.filter((one) => one.id !== id));
}

export function toast(message: Toast): number {
  counter += 1;
  const id = counter;
  const { about } = message;
  const others = about ? shown.filter((one) => one.about !== about) : shown;
  change([...others.slice(-3), { kind: "info", ...message, id }]);
  const stays = message.stays ?? (message.kind === "bad" ? 0 : message.action ? 10_000 : 5000);
  if (stays) setTimeout(() => dismiss(id), stays);
  return id;
}

export function toastError(error: unknown, retry?: () => void): number {
  const { title, hint, details } = explain(error);
  return toast({
    kind: "bad",
    text: title,
    hint: [hint, ...details].filter(Boolean).join(" "),
    action: retry ? { name: texts.toast.tryAgain, run: retry } : undefined,
  });
}

export function Toasts() {
  const messages = useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => shown,
  );
  // A dialog covers all but what is opened after it: every new message opens the list again.
  const box = useRef<HTMLElement>(null);
  const newest = messages.at(-1)?.id;
  useEffect(() => {
    if (newest !== undefined) box.current?.hidePopover();
    box.current?.showPopover();
  }, [newest]);
  return (
    <section
      ref={box}
      popover="manual"
      className="toasts"
      aria-label={texts.toast.messages}
      aria-live="polite"
    >
      {messages.map((message) => (
        <OneToast key={message.id} message={message} />
      ))}
    </section>
  );
}

const ICONS = { good: "check", bad: "warning", info: "info" } as const;

function OneToast({ message }: { message: Shown }) {
  const { id, text, hint, kind = "info", action } = message;
  async function run() {
    dismiss(id);
    try {
      await action?.run();
    } catch (error) {
      toastError(error);
    }
  }
  return (
    <div className={`toast ${kind}`}>
      <Icon name={ICONS[kind]} />
      <div className="grow">
        <div>{text}</div>
        {hint && <div className="small soft">{hint}</div>}
      </div>
      {action && (
        <Button small onClick={run} icon={action.name === common.undo ? "undo" : "refresh"}>
          {action.name}
        </Button>
      )}
      <IconButton icon="cross" label={texts.toast.dismiss} onClick={() => dismiss(id)} small />
    </div>
  );
}
