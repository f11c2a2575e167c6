import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Icon, type IconName } from "./Icon";
import { Spinner } from "./Wait";

type Look = "plain" | "primary" | "quiet" | "danger";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  icon?: IconName;
  small?: boolean;
  busy?: boolean;
  /** Which key does the same; shown, not listened to. */
  hotkey?: string;
  children?: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({
  look = "plain",
  icon,
  small,
  busy,
  hotkey,
  children,
  className = "",
  disabled,
  ...rest
}: ButtonProps) {
  const classes = ["button", look, small && "small", className].filter(Boolean).join(" ");
  return (
    <button
      type="button"
      className={classes}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy ? <Spinner /> : icon && <Icon name={icon} size={16} />}
      {children}
      {hotkey && <kbd aria-hidden="true">{hotkey}</kbd>}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "icon"> {
  icon: IconName;
  /** What it does: read aloud, and shown when the pointer rests on it. */
  label: string;
}

export function IconButton({
  icon,
  label,
  look = "quiet",
  className = "",
  ...rest
}: IconButtonProps) {
  return (
    <Button
      look={look}
      icon={icon}
      className={`square ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    />
  );
}
