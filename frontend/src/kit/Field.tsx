import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from "react";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** The label is read aloud but not shown. */
  bare?: boolean;
  children: (props: {
    id: string;
    "aria-describedby"?: string;
    "aria-invalid"?: boolean;
  }) => ReactNode;
}

/** A label, what it labels, and a word of help or of trouble below. */
export function Field({ label, hint, error, bare, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  const noteProps = note ? { "aria-describedby": `${id}-note` } : {};
  const errorProps = error ? { "aria-invalid": true } : {};
  return (
    <div className="field">
      <label htmlFor={id} className={bare ? "unseen" : ""}>
        {label}
      </label>
      {children({ id, ...noteProps, ...errorProps })}
      {note && (
        <div id={`${id}-note`} className={`field-note ${error ? "wrong" : ""}`}>
          {note}
        </div>
      )}
    </div>
  );
}

type InputProps = InputHTMLAttributes<HTMLInputElement> & Omit<FieldProps, "children">;

export function Input({ label, hint, error, bare = false, className = "", ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error} bare={bare}>
      {(props) => <input className={`input ${className}`} {...props} {...rest} />}
    </Field>
  );
}

type SelectProps = SelectHTMLAttributes<HTMLSelectElement> &
  Omit<FieldProps, "children"> & {
    options: readonly (string | { value: string; label: string })[];
  };

export function Select({
  label,
  hint,
  error,
  bare = false,
  options,
  className = "",
  ...rest
}: SelectProps) {
  return (
    <Field label={label} hint={hint} error={error} bare={bare}>
      {(props) => (
        <select className={`input select ${className}`} {...props} {...rest}>
          {options.map((option) => {
            const { value, label: shown } =
              typeof option === "string" ? { value: option, label: option } : option;
            return (
              <option key={value} value={value}>
                {shown}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

type CheckProps = Omit<InputHTMLAttributes<HTMLInputElement>, "type"> & { label: ReactNode };

export function Checkbox({ label, ...rest }: CheckProps) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}

interface SwitchProps {
  label: string;
  on: boolean;
  onChange: (on: boolean) => void;
  disabled?: boolean;
}

export function Switch({ label, on, onChange, disabled }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={on}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!on)}
    >
      <span />
    </button>
  );
}
