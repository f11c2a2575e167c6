import { type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { common } from "@/texts/common";
import { Button, IconButton } from "./Button";

interface DialogProps {
  title: string;
  /** Called on Escape, on the cross, and on a click beside it. */
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the foot. */
  actions?: ReactNode;
  wide?: boolean;
  /** Stands at the side of the screen instead of in its middle. */
  side?: "left" | "right";
  /** Makes the dialog a form: Enter and the submit button run it. */
  onSubmit?: () => void;
}

const FIRST_FIELD = "input:enabled,select,textarea";

/** The browser's own modal dialog: it keeps the focus in, and gives it back. */
export function Dialog({ title, onClose, children, actions, wide, side, onSubmit }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    // A dialog begins with its first field, not with the cross that closes it.
    const body = dialog?.querySelector(".dialog-body");
    if (!body?.contains(document.activeElement)) {
      body?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    }
    return () => dialog?.close();
  }, []);
  function submit(event: FormEvent) {
    event.preventDefault();
    onSubmit?.();
  }
  const inside = (
    <>
      <div className="dialog-body">{children}</div>
      {actions && <footer className="dialog-foot">{actions}</footer>}
    </>
  );
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, by the browser itself.
    <dialog
      ref={place}
      className={["dialog", wide && "wide", side && `side ${side}`].filter(Boolean).join(" ")}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === place.current && onClose()}
    >
      <div className="dialog-inside">
        <header className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <IconButton icon="cross" label={common.close} onClick={onClose} />
        </header>
        {onSubmit ? <form onSubmit={submit}>{inside}</form> : inside}
      </div>
    </dialog>
  );
}

interface FormButtonsProps {
  onClose: () => void;
  busy?: boolean;
  disabled?: boolean;
  /** What the form does, in words. */
  children: ReactNode;
}

/** The foot of a form: leave it, or send it. */
export function FormButtons({ onClose, busy, disabled, children }: FormButtonsProps) {
  return (
    <>
      <Button onClick={onClose}>{common.cancel}</Button>
      <Button type="submit" look="primary" busy={busy ?? false} disabled={disabled ?? false}>
        {children}
      </Button>
    </>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Ask once more before something that cannot be undone. */
export function Confirm({
  title,
  children,
  action,
  danger,
  busy,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const button = useId();
  // Enter confirms as soon as there is something to confirm; a dialog begins at its cross.
  useEffect(() => {
    if (!busy) document.getElementById(button)?.focus();
  }, [busy, button]);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onConfirm}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            id={button}
            type="submit"
            look={danger ? "danger" : "primary"}
            busy={busy ?? false}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
