import { kinds } from "@/api/kinds";
import { Dialog, statusWord } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/palette";
import { type Key, useKeySections } from "./keys";

const SIGNS: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: texts.keyMap.esc,
  Enter: "↵",
  Space: texts.keyMap.space,
};

/** The map of all keys that work on the screen that is open. */
export default function KeyMap({ onClose }: { onClose: () => void }) {
  const open = useKeySections();
  const sections = [inLists(open), ...open].filter(({ keys }) => keys.length > 0);
  return (
    <Dialog title={texts.keyMap.keyboardShortcuts} wide onClose={onClose}>
      <div className="key-map">
        {[...sections].reverse().map((section) => (
          <section key={section.name}>
            <h3>{section.name}</h3>
            <dl>
              {section.keys
                .filter((key) => !key.unlisted)
                .map((key) => (
                  <div key={key.does}>
                    <dt>
                      <Keys keys={key.keys} />
                    </dt>
                    <dd>{key.does}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** What the keys decide in lists that are not open: the same key means the same in all of them. */
function inLists(open: ReturnType<typeof useKeySections>) {
  const elsewhere = kinds().filter(({ title }) => !open.some(({ name }) => name === title));
  const meanings = new Map<string, Set<string>>();
  for (const kind of elsewhere) {
    for (const { key, status } of kind.decisions) {
      const words = meanings.get(key) ?? new Set();
      meanings.set(key, words.add(statusWord(status, kind.status)));
    }
  }
  const keys: Key[] = [...meanings].map(([key, words]) => ({
    keys: key,
    does: [...words].join(" / "),
    run: () => {},
  }));
  return { name: texts.keyMap.inLists, keys };
}

function Keys({ keys }: { keys: string | readonly string[] }) {
  const all = typeof keys === "string" ? [keys] : keys;
  return (
    <>
      {all.map((name, place) => (
        <span key={name}>
          {place > 0 && <span className="faint"> {common.or} </span>}
          {name.split(" ").map((step) => (
            <kbd key={step}>{shown(step)}</kbd>
          ))}
        </span>
      ))}
    </>
  );
}

function shown(step: string): string {
  const isMac = navigator.userAgent.includes("Mac");
  return step
    .split("+")
    .map((part) => (part === "Mod" ? (isMac ? "⌘" : texts.keyMap.ctrl) : (SIGNS[part] ?? part)))
    .join(" ");
}
