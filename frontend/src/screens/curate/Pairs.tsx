/** Companies that may be one: a person says so, pair after pair, by key. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type RouteAnswer, read, write } from "@/api/client";
import { Button, Dialog, Skeleton, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/dialogs";

type Pair = RouteAnswer<"/company-pairs">[number];

const PAIRS = ["company-pairs"] as const;
const ANSWERS = { s: "same", d: "different" } as const;

interface PairsProps {
  onChanged: () => void;
  onClose: () => void;
}

export default function Pairs({ onChanged, onClose }: PairsProps) {
  const queries = useQueryClient();
  const [skipped, setSkipped] = useState(0);
  const [busy, setBusy] = useState(false);
  const found = useQuery({ queryKey: PAIRS, queryFn: () => read("/company-pairs") });
  const pair = found.data?.[skipped];
  async function answer(verdict: "same" | "different") {
    if (!pair || busy) return;
    setBusy(true);
    try {
      await write("POST", "/company-pairs/{pair_id}/answer", {
        path: { pair_id: pair.id },
        body: { verdict },
      });
      await queries.invalidateQueries({ queryKey: PAIRS });
      onChanged();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  }
  useEffect(() => {
    function pressed({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) {
      if (ctrlKey || metaKey || altKey) return;
      if (key === "s" || key === "d") void answer(ANSWERS[key]);
      if (key === "j") setSkipped((count) => count + 1);
    }
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  });
  const left = (found.data?.length ?? 0) - skipped;
  return (
    <Dialog
      title={texts.pairs.companiesThatMayBeOne}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.close}</Button>
          {pair && (
            <>
              <Button hotkey="j" onClick={() => setSkipped(skipped + 1)}>
                {texts.pairs.skip}
              </Button>
              <Button hotkey="d" onClick={() => void answer("different")}>
                {texts.pairs.different}
              </Button>
              <Button look="primary" hotkey="s" busy={busy} onClick={() => void answer("same")}>
                {texts.pairs.sameCompany}
              </Button>
            </>
          )}
        </>
      }
    >
      {pair ? (
        <div className="stack">
          <p className="small soft">
            {texts.pairs.leftLikely(left, Math.round(pair.score * 100), pair.reasons.join(", "))}
            {pair.is_disputed && texts.pairs.twoPeopleHaveSaidTheOpposite}
          </p>
          <Side side={pair.one} />
          <Side side={pair.other} />
        </div>
      ) : found.isLoading ? (
        <Skeleton lines={4} />
      ) : (
        <p>{texts.pairs.nothingIsLeftToAnswer}</p>
      )}
    </Dialog>
  );
}

function Side({ side }: { side: Pair["one"] }) {
  const facts = [side.street, side.phone, side.domain, side.source].filter(Boolean).join(" · ");
  return (
    <p className="foreign">
      <strong>{side.name ?? texts.pairs.unnamed}</strong>{" "}
      <span className="small soft">{facts}</span>
    </p>
  );
}
