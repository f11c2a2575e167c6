/** How often a search is run again, what that costs, and when it is next. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { useMay } from "@/app/session";
import {
  Button,
  Failure,
  Input,
  money,
  Panel,
  Select,
  Skeleton,
  Stat,
  Time,
  toast,
  toastError,
} from "@/kit";
import { texts } from "@/texts/changes";

const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

type Kept = Schemas["ScheduleOut"];
type Every = Schemas["Repetition"];

export function Schedule({ searchId }: { searchId: string }) {
  const path = { record_id: searchId };
  const { data, error, refetch } = useQuery({
    queryKey: ["searches", searchId, "schedule"],
    queryFn: () => read("/searches/{record_id}/schedule", { path }),
  });
  return (
    <Panel title={texts.schedule.title} about={texts.schedule.about}>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data ? (
        <Form key={`${data.every} ${data.budget}`} kept={data} />
      ) : (
        <Skeleton lines={3} />
      )}
    </Panel>
  );
}

/** What one run costs; sometimes only the least can be known, or nothing. */
function priceOf({ estimate, unavailable }: Kept): string {
  if (!estimate) return texts.schedule.unavailable(unavailable ?? "");
  const { price_likely: likely, price_low: low } = estimate;
  return likely === null
    ? texts.schedule.leastPrice(money(Number(low)))
    : texts.schedule.price(money(Number(likely)));
}

function Form({ kept }: { kept: Kept }) {
  const queries = useQueryClient();
  const may = useMay("curate");
  const [every, setEvery] = useState<Every | "">(kept.every ?? "");
  const [budget, setBudget] = useState(kept.budget === null ? "" : String(Number(kept.budget)));
  const path = { record_id: kept.search_id };
  const isFree = Number(kept.estimate?.price_high ?? Number.NaN) === 0;
  const done = (text: string) => {
    toast({ text, kind: "good" });
    return queries.invalidateQueries({ queryKey: ["searches"] });
  };
  const save = useMutation({
    mutationFn: async (isPaused: boolean) => {
      const route = "/searches/{record_id}/schedule";
      if (!every) return write("DELETE", route, { path });
      const body = {
        every,
        budget: budget === "" ? null : budget,
        is_paused: isPaused,
        has_digest: kept.has_digest,
      };
      return write("PUT", route, { path, body });
    },
    onSuccess: () => done(texts.schedule.saved),
    onError: (error) => toastError(error),
  });
  const run = useMutation({
    mutationFn: () => write("POST", "/searches/{record_id}/schedule/run", { path }),
    onSuccess: () => done(texts.schedule.queued),
    onError: (error) => toastError(error),
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(kept.is_paused);
      }}
    >
      <div className="row wrap">
        <Select
          label={texts.schedule.every}
          value={every}
          disabled={!may}
          onChange={(event) => setEvery(event.target.value as Every | "")}
          options={[
            { value: "", label: texts.schedule.never },
            { value: "daily", label: texts.schedule.daily },
            { value: "weekly", label: texts.schedule.weekly },
            { value: "monthly", label: texts.schedule.monthly },
          ]}
        />
        {!isFree && (
          <Input
            label={texts.schedule.budget}
            type="number"
            min={0}
            step="0.01"
            value={budget}
            disabled={!may}
            onChange={(event) => setBudget(event.target.value)}
          />
        )}
      </div>
      <p className="small soft">
        {isFree ? texts.schedule.free : priceOf(kept)}{" "}
        {!isFree &&
          kept.most_a_month !== null &&
          texts.schedule.most(money(Number(kept.most_a_month)))}
      </p>
      {kept.is_scheduled && (
        <dl className="row wrap">
          <Stat
            name={texts.schedule.next}
            value={
              kept.is_paused || !kept.next_run_at
                ? texts.schedule.paused
                : DAY.format(new Date(kept.next_run_at))
            }
          />
          {kept.last_run_at && (
            <Stat name={texts.schedule.last} value={<Time at={kept.last_run_at} />} />
          )}
        </dl>
      )}
      {kept.problem && <p className="small">{texts.schedule.problem(kept.problem)}</p>}
      {may && (
        <div className="row wrap">
          <Button type="submit" look="primary" busy={save.isPending}>
            {texts.schedule.save}
          </Button>
          {kept.is_scheduled && (
            <>
              <Button onClick={() => save.mutate(!kept.is_paused)}>
                {kept.is_paused ? texts.schedule.resume : texts.schedule.pause}
              </Button>
              <Button icon="refresh" busy={run.isPending} onClick={() => run.mutate()}>
                {texts.schedule.runNow}
              </Button>
            </>
          )}
        </div>
      )}
    </form>
  );
}
