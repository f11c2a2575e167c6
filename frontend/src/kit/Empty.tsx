import type { ReactNode } from "react";
import { explain } from "@/api/problem";
import { texts } from "@/texts/kit";
import { Button } from "./Button";
import { Icon, type IconName } from "./Icon";

interface EmptyProps {
  icon?: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Nothing here: say why, and what to do next. */
export function Empty({ icon = "info", title, children, actions }: EmptyProps) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} size={26} />
      </span>
      <h2>{title}</h2>
      {children && <div className="soft empty-text">{children}</div>}
      {actions && <div className="row wrap empty-actions">{actions}</div>}
    </div>
  );
}

/** It did not work: say what happened, what to do, and offer to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, hint, details } = explain(error);
  return (
    <div className="failure" role="alert">
      <Icon name="warning" />
      <div className="grow">
        <strong>{title}</strong>
        {hint && <p className="soft">{hint}</p>}
        {details.length > 0 && (
          <ul className="small soft foreign">
            {details.map((detail) => (
              <li key={detail}>{detail}</li>
            ))}
          </ul>
        )}
      </div>
      {retry && (
        <Button small icon="refresh" onClick={retry}>
          {texts.empty.tryAgain}
        </Button>
      )}
    </div>
  );
}
