/** The demo town: opened in a workspace of its own, visited, reset and closed. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
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

/** Open the town; nothing, while it is open. */
export function DemoOffer() {
  const queries = useQueryClient();
  const { data } = useDemo();
  const [size, setSize] = useState("20");
  const [decides, setDecides] = useState(true);
  const open = useMutation({
    mutationFn: () => write("POST", "/demo", { body: { size: Number(size), decide: decides } }),
    onSuccess: (demo) => queries.setQueryData(DEMO, demo),
    onError: (error) => toastError(error),
  });
  if (data?.is_running) return null;
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
        busy={open.isPending || (data?.is_opening ?? false)}
        onClick={() => open.mutate()}
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
  if (data?.is_here)
    return (
      <p className="demo-note" role="status">
        <Icon name="town" />
        <span>
          {texts.demo.thisIsTheTown} <strong>{data.place}</strong>
          {texts.demo.madeUp}
        </span>
      </p>
    );
  if (!data?.address) return null;
  return (
    <p className="demo-note" role="status">
      <Icon name="town" />
      <span>
        {texts.demo.theTown} <strong>{data.place}</strong> {texts.demo.isOpen}
      </span>
      <a className="button" href={data.address} target="_blank" rel="noopener">
        {texts.demo.visitTheTown}
      </a>
      <Button busy={reset.isPending} onClick={() => reset.mutate()}>
        {texts.demo.resetTheTown}
      </Button>
      <Button busy={close.isPending} onClick={() => close.mutate()}>
        {texts.demo.closeTheTown}
      </Button>
    </p>
  );
}
