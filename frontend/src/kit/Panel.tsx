import type { ReactNode } from "react";

/** The head of a screen: its name, one line about it, and what can be done. */
export function ScreenHead({
  title,
  about,
  actions,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className="screen-head">
      <div className="grow">
        <h1>{title}</h1>
        {about && <p className="soft">{about}</p>}
      </div>
      {actions && <div className="row wrap">{actions}</div>}
    </header>
  );
}

interface PanelProps {
  title?: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  /** No space inside: for tables that reach the edges. */
  flush?: boolean;
}

export function Panel({ title, about, actions, children, className = "", flush }: PanelProps) {
  return (
    <section
      className={`panel ${flush ? "flush" : ""} ${className}`}
      {...(title ? { "aria-label": title } : {})}
    >
      {(title || actions) && (
        <header className="panel-head">
          <div className="grow">
            {title && <h2>{title}</h2>}
            {about && <p className="small soft">{about}</p>}
          </div>
          {actions}
        </header>
      )}
      <div className="panel-body">{children}</div>
    </section>
  );
}

/** One number that matters, with its name. */
export function Stat({
  name,
  value,
  note,
  tone,
}: {
  name: string;
  value: ReactNode;
  note?: ReactNode;
  tone?: string;
}) {
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd className={`number ${tone ?? ""}`}>{value}</dd>
      {note && <dd className="small faint">{note}</dd>}
    </div>
  );
}

/** How much of a whole is done; more than one part may be shown. */
export function Meter({
  label,
  parts,
  total,
}: {
  label: string;
  parts: readonly { value: number; tone: string }[];
  total: number;
}) {
  const done = parts.reduce((sum, part) => sum + part.value, 0);
  return (
    <div
      className="meter"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(total, 1)}
      aria-valuenow={Math.min(done, Math.max(total, 1))}
    >
      {parts.map((part) => (
        <span
          key={part.tone}
          className={part.tone}
          style={{ width: `${total > 0 ? (part.value / total) * 100 : 0}%` }}
        />
      ))}
    </div>
  );
}
