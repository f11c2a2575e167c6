/** A button that opens a list of actions or choices; arrows move in it, Escape closes it. */
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Button, type ButtonProps } from "./Button";
import { Icon, type IconName } from "./Icon";

export interface MenuItem {
  name: ReactNode;
  icon?: IconName;
  hotkey?: string;
  danger?: boolean;
  disabled?: boolean;
  checked?: boolean;
  /** One may want several of them. */
  keepsOpen?: boolean;
  run: () => void;
}

interface MenuProps extends Omit<ButtonProps, "children"> {
  label: string;
  /** What the button shows; the label alone when left out. */
  shown?: ReactNode;
  items: readonly (MenuItem | "line")[];
  align?: "left" | "right";
}

export function Menu({ label, shown, items, align = "left", ...button }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLDivElement>(null);

  // In the top layer, where no card or table cuts it off.
  useLayoutEffect(() => {
    if (!isOpen || !box.current || !opener.current) return;
    box.current.showPopover();
    placeBelow(box.current, opener.current.getBoundingClientRect(), align);
  }, [isOpen, align]);
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>("[role^=menuitem]:not(:disabled)")?.focus();
    const outside = (event: Event) => {
      if (!opener.current?.contains(event.target as Node)) setOpen(false);
    };
    const moved = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("scroll", moved, true);
    window.addEventListener("resize", moved);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("scroll", moved, true);
      window.removeEventListener("resize", moved);
    };
  }, [isOpen]);

  function close() {
    setOpen(false);
    opener.current?.querySelector("button")?.focus();
  }

  function move(event: KeyboardEvent) {
    const all = [
      ...(box.current?.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)") ?? []),
    ];
    const here = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (next !== undefined) all.at(next % all.length)?.focus();
    else return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
  }

  return (
    <div className="menu" ref={opener}>
      <Button
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={shown === undefined ? undefined : label}
        onClick={() => setOpen(!isOpen)}
        {...button}
      >
        {shown ?? label}
      </Button>
      {isOpen && (
        <div
          ref={box}
          id={id}
          role="menu"
          popover="manual"
          tabIndex={-1}
          aria-label={label}
          className="menu-box"
          onKeyDown={move}
        >
          {items.map((item, place) =>
            item === "line" ? (
              <hr key={place} />
            ) : (
              <button
                key={place}
                type="button"
                role={item.checked === undefined ? "menuitem" : "menuitemcheckbox"}
                aria-checked={item.checked}
                className={item.danger ? "danger" : ""}
                disabled={item.disabled}
                onClick={() => {
                  if (!item.keepsOpen) close();
                  item.run();
                }}
              >
                {item.checked !== undefined ? (
                  <span className="menu-check">
                    {item.checked && <Icon name="check" size={16} />}
                  </span>
                ) : (
                  item.icon && <Icon name={item.icon} size={16} />
                )}
                <span className="grow">{item.name}</span>
                {item.hotkey && <kbd>{item.hotkey}</kbd>}
              </button>
            ),
          )}
        </div>
      )}
    </div>
  );
}

const GAP = 4;

/** Put a box below its opener, or above where there is more room; always in the window. */
export function placeBelow(box: HTMLElement, opener: DOMRect, align: "left" | "right"): void {
  const { offsetWidth, offsetHeight } = box;
  const below = opener.bottom + GAP;
  const isBelow = below + offsetHeight <= innerHeight || opener.top < innerHeight / 2;
  const top = isBelow ? below : opener.top - GAP - offsetHeight;
  const left = align === "left" ? opener.left : opener.right - offsetWidth;
  box.style.top = `${Math.max(GAP, Math.min(top, innerHeight - offsetHeight - GAP))}px`;
  box.style.left = `${Math.max(GAP, Math.min(left, innerWidth - offsetWidth - GAP))}px`;
}
