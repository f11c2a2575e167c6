/** A box that opens below its button; Escape and a click beside it close it. */
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import { Button, type ButtonProps } from "./Button";
import { placeBelow } from "./Menu";

interface PopoverProps extends Omit<ButtonProps, "children"> {
  label: string;
  /** What the button shows; the label alone when left out. */
  shown?: ReactNode;
  /** What is in the box, and how it closes it. */
  children: (close: () => void) => ReactNode;
  boxClass?: string;
  align?: "left" | "right";
  /** Tells whoever opens it by a key what to press. */
  opener?: React.RefObject<HTMLButtonElement | null>;
}

export function Popover({
  label,
  shown,
  children,
  boxClass,
  align = "left",
  opener,
  ...button
}: PopoverProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const own = useRef<HTMLButtonElement>(null);
  const place = opener ?? own;
  useLayoutEffect(() => {
    if (!isOpen || !box.current || !place.current) return;
    box.current.showPopover();
    placeBelow(box.current, place.current.getBoundingClientRect(), align);
    box.current.querySelector<HTMLElement>("input:not([type=date]), button")?.focus();
    const outside = ({ target }: Event) => {
      const isInside = [box, place].some(({ current }) => current?.contains(target as Node));
      if (!isInside) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [isOpen, place, align]);
  function close() {
    setOpen(false);
    place.current?.focus();
  }
  return (
    <>
      <Button
        ref={place}
        aria-haspopup="dialog"
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
          popover="manual"
          role="dialog"
          aria-label={label}
          className={`menu-box popover ${boxClass ?? ""}`}
          onKeyDown={(event) => {
            if (event.key === "Escape") close();
            event.stopPropagation();
          }}
        >
          {children(close)}
        </div>
      )}
    </>
  );
}
