import { percent } from "./format";
import { statusWord, surenessOf, toneOf } from "./words";

interface StatusProps {
  status: string | null | undefined;
  /** The column it stands in. */
  field?: string | undefined;
}

/** A status as a coloured word: the same word has the same colour everywhere. */
export function Status({ status, field }: StatusProps) {
  if (!status) return <span className="faint">–</span>;
  return <span className={`badge ${toneOf(status, field)}`}>{statusWord(status, field)}</span>;
}

export function Badge({ tone = "quiet", children }: { tone?: string; children: React.ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** How sure we are, in a word: nobody acts on the difference between 97 and 98 %. */
export function Sureness({ share }: { share: number }) {
  const { word, tone } = surenessOf(share);
  return (
    <span className={`sureness ${tone ?? ""}`} title={percent(share)}>
      {word}
    </span>
  );
}
