/** The demo town: opened in a workspace of its own, visited, reset and closed. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { read, write } from "@/api/client";
import { Button, Checkbox, Icon, Select, toastError } from "@/kit";
import "./demo.css";
import { texts } from "@/texts/pipeline";

const SIZES = [
  { value: "20", label: texts.demo.smallTown },
  { value: "100", label: texts.demo.mediumTown },
  { value: "300", label: texts.demo.largeTown },
];

const DEMO = ["demo"] as const;

export const useDemo = () =>
  useQuery({
    queryKey: DEMO,
    queryFn: () => read("/demo"),
    refetchInterval: ({ state }) => (state.data?.is_opening ? 500 : 5000),
  });

/** Go into the town, or out of it: everything is read anew, from there. */
async function goTo(way: "POST" | "DELETE", screen: string): Promise<void> {
  await write(way, "/demo/visit");
  location.assign(screen);
}

const LEADS = "/curate/companies";

/** Open the town, and go there as soon as it is open; nothing, while it is open. */
export function DemoOffer() {
  const queries = useQueryClient();
  const { data } = useDemo();
  const [size, setSize] = useState("20");
  const [decides, setDecides] = useState(true);
  const [isWanted, setWanted] = useState(false);
  const isReady = isWanted && (data?.is_running ?? false);
  useEffect(() => {
    // Whoever decides by hand begins where there is something to decide.
    if (isReady) void goTo("POST", decides ? LEADS : "/").catch(toastError);
  }, [isReady, decides]);
  const open = useMutation({
    mutationFn: () => write("POST", "/demo", { body: { size: Number(size), decide: decides } }),
    onSuccess: (demo) => queries.setQueryData(DEMO, demo),
    onError: (error) => toastError(error),
  });
  if (data?.is_running && !isWanted) return null;
  return (
    <div className="first-way chosen">
      <h3>{texts.demo.tryTheDemoTown}</h3>
      <p className="small soft">{texts.demo.sevenQuaysAndItsWebsites}</p>
      <div className="row wrap">
        <Select
          bare
          label={texts.demo.townSize}
          options={SIZES}
          value={size}
          onChange={(event) => setSize(event.target.value)}
        />
        <Checkbox
          label={texts.demo.decideAutomaticallyWithRules}
          checked={decides}
          onChange={(event) => setDecides(event.target.checked)}
        />
      </div>
      <Button
        look="primary"
        icon="town"
        busy={open.isPending || isReady || (data?.is_opening ?? false)}
        onClick={() => {
          setWanted(true);
          open.mutate();
        }}
      >
        {texts.demo.tryTheDemoTown}
      </Button>
      {data?.problem && <p role="alert">{data.problem}</p>}
    </div>
  );
}

/** Say what is made up, or where the town is open. */
export function DemoNote() {
  const queries = useQueryClient();
  const { data } = useDemo();
  const close = useMutation({
    mutationFn: () => write("DELETE", "/demo"),
    onSuccess: () => void queries.invalidateQueries({ queryKey: DEMO }),
    onError: (error) => toastError(error),
  });
  const reset = useMutation({
    mutationFn: () => write("POST", "/demo/reset"),
    onSuccess: (demo) => queries.setQueryData(DEMO, demo),
    onError: (error) => toastError(error),
  });
  if (data?.is_here || data?.is_visited) return null;
  if (!data?.address) return null;
  return (
    <p className="demo-note" role="status">
      <Icon name="town" />
      <span>
        {texts.demo.theTown} <strong>{data.place}</strong> {texts.demo.isOpen}
      </span>
      <Button look="primary" onClick={() => goTo("POST", LEADS).catch(toastError)}>
        {texts.demo.visitTheTown}
      </Button>
      <Button busy={reset.isPending} onClick={() => reset.mutate()}>
        {texts.demo.resetTheTown}
      </Button>
      <Button busy={close.isPending} onClick={() => close.mutate()}>
        {texts.demo.closeTheTown}
      </Button>
    </p>
  );
}

/** Say on every screen that what is shown is made up, and how to get back. */
export default function DemoBar() {
  const { data } = useDemo();
  if (!data?.is_here && !data?.is_visited) return null;
  return (
    <p className="demo-note demo-bar" role="status">
      <Icon name="town" />
      <span className="grow">
        {texts.demo.thisIsTheTown} <strong>{data.place}</strong>
        {texts.demo.madeUp}
      </span>
      {data.is_visited && (
        <Button small onClick={() => goTo("DELETE", "/").catch(toastError)}>
          {texts.demo.leaveTheTown}
        </Button>
      )}
    </p>
  );
}
