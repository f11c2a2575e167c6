/** How a lead is reached: a number to call, an address to write to, each copied with one click. */
import { useState } from "react";
import { Icon, IconButton, phoneShown, statusWord, toast, toneOf } from "@/kit";
import { texts } from "@/texts/curate";

const COPIED_MS = 1500;

interface CopyProps {
  value: string;
  label: string;
  /** Whether Tab stops here; in a list the keys of the list do the work. */
  inList?: boolean;
}

/** Puts a value on the clipboard, and says so where the pointer is. */
export function Copy({ value, label, inList = false }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      toast({ kind: "bad", text: texts.reach.notCopied });
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  }
  return (
    <>
      <IconButton
        small
        className="copy"
        icon={isCopied ? "check" : "copy"}
        label={label}
        tabIndex={inList ? -1 : 0}
        onClick={(event) => {
          event.stopPropagation();
          void copy();
        }}
      />
      <span role="status" className="unseen">
        {isCopied && texts.reach.copied}
      </span>
    </>
  );
}

interface ReachProps {
  value: string;
  inList?: boolean;
}

/** A number as people read it; a click calls it. */
export function Phone({ value, inList = false }: ReachProps) {
  return (
    <span className="reach">
      <a
        className="number"
        href={`tel:${value.replaceAll(" ", "")}`}
        title={texts.reach.call(phoneShown(value))}
        tabIndex={inList ? -1 : 0}
        onClick={(event) => event.stopPropagation()}
      >
        {phoneShown(value)}
      </a>
      <Copy value={value} label={texts.reach.copyTheNumber} inList={inList} />
    </span>
  );
}

/** An address that is never cut: it may take more than one line. */
export function WholeAddress({ value }: { value: string }) {
  const at = value.indexOf("@");
  return (
    <>
      {value.slice(0, at)}
      <wbr />
      {value.slice(at)}
    </>
  );
}

interface EmailProps extends ReachProps {
  /** Whether mail arrives, as far as anybody has looked. */
  verdict: string | null;
  /** Why this address. */
  reason?: string | null;
}

export function Email({ value, verdict, reason, inList = false }: EmailProps) {
  return (
    <span className="reach">
      <Verdict verdict={verdict} />
      <a
        className="email"
        href={`mailto:${value}`}
        title={[value, reason].filter(Boolean).join("\n")}
        tabIndex={inList ? -1 : 0}
        onClick={(event) => event.stopPropagation()}
      >
        <WholeAddress value={value} />
      </a>
      <Copy value={value} label={texts.reach.copyTheAddress} inList={inList} />
    </span>
  );
}

const MARKS = { good: "check", warn: "warning", bad: "cross" } as const;

/** A tick, a doubt or a cross; nothing where nobody has looked yet. */
function Verdict({ verdict }: { verdict: string | null }) {
  if (!verdict) return null;
  const tone = toneOf(verdict, "deliverability");
  const icon = MARKS[tone as keyof typeof MARKS];
  if (!icon) return null;
  const word = statusWord(verdict, "deliverability");
  return (
    <span className={`verdict ${tone}`} title={word}>
      <Icon name={icon} size={14} />
      <span className="unseen">{word}:</span>
    </span>
  );
}
