/** What is wrong with which line: each cause once, with the lines that have it. */

import type { Schemas } from "@/api/types";
import { whole } from "@/kit";
import { fieldWord } from "@/screens/curate/filters";
import { texts } from "@/texts/batches";

export type LineProblem = Schemas["LineProblem"];

const FIRST_SHOWN = 5;

export function LineProblems({ problems }: { problems: readonly LineProblem[] }) {
  const causes = new Map<string, LineProblem[]>();
  for (const problem of problems) {
    const cause = [problem.field, problem.why].join(" ");
    causes.set(cause, [...(causes.get(cause) ?? []), problem]);
  }
  return (
    <ul className="line-problems small">
      {[...causes].map(([cause, lines]) => (
        <li key={cause}>
          <Cause lines={lines} />
        </li>
      ))}
    </ul>
  );
}

function Cause({ lines }: { lines: readonly LineProblem[] }) {
  const [first] = lines;
  if (!first) return null;
  const what = first.field
    ? `${fieldWord(first.field)}: ${first.why}`
    : first.why.charAt(0).toUpperCase() + first.why.slice(1);
  const rest = lines.length - FIRST_SHOWN;
  return (
    <>
      <strong>{texts.lineProblems.cause(lines.length, what, first.is_left_out === true)}</strong>
      <ul className="soft">
        {lines.slice(0, FIRST_SHOWN).map(({ line, value }, place) => (
          <li key={place} className="foreign">
            {texts.lineProblems.line(whole(line), value ?? null)}
          </li>
        ))}
      </ul>
      {rest > 0 && <Rest lines={lines.slice(FIRST_SHOWN)} />}
    </>
  );
}

function Rest({ lines }: { lines: readonly LineProblem[] }) {
  return (
    <details>
      <summary>{texts.lineProblems.more(lines.length)}</summary>
      <p className="soft foreign">
        {lines
          .map(({ line, value }) => texts.lineProblems.line(whole(line), value ?? null))
          .join(" · ")}
      </p>
    </details>
  );
}
