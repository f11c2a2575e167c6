import { Dialog } from "@/kit";
import { texts } from "@/texts/app";
import { common } from "@/texts/common";
import { useKeySections } from "./keys";

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
export function KeyMap({ onClose }: { onClose: () => void }) {
  const sections = useKeySections();
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
