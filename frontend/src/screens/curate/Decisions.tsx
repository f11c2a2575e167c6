/** The decisions of a kind as buttons, each with its key. */

import type { Kind } from "@/api/kinds";
import { Button, statusWord } from "@/kit";

interface DecisionsProps {
  kind: Kind;
  onDecide: (status: string) => void;
  /** The status it has already. */
  current?: string | null;
}

export function Decisions({ kind, onDecide, current }: DecisionsProps) {
  // What was decided is not what the page proposes to overrule.
  const isSettled = Boolean(current) && current !== kind.undecided;
  return (
    <div className="row wrap decisions">
      {kind.decisions.map(({ status, key, icon }, place) => {
        const isCurrent = status === current;
        return (
          <Button
            key={status}
            small
            icon={icon}
            hotkey={key}
            look={place === 0 && !isCurrent && !isSettled ? "primary" : "plain"}
            className={isCurrent ? "chosen" : ""}
            aria-pressed={current === undefined ? undefined : isCurrent}
            onClick={() => !isCurrent && onDecide(status)}
          >
            {statusWord(status, kind.status)}
          </Button>
        );
      })}
    </div>
  );
}
