/** The demo town: opened in a workspace of its own, visited, reset and closed. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import { Button, Checkbox, Icon, Select, toastError } from "@/kit";
import "./demo.css";

const SIZES = [
  { value: "20", label: "20 businesses, under a minute" },
  { value: "100", label: "100 businesses" },
  { value: "300", label: "300 businesses, a minute or two" },
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
      <h3>Try the demo town</h3>
      <p className="small soft">
        Seven Quays and its websites are made up on this machine: no internet and no API key needed.
        It opens in its own workspace, apart from yours.
      </p>
      <div className="row wrap">
        <Select
          bare
          label="Town size"
          options={SIZES}
          value={size}
          onChange={(event) => setSize(event.target.value)}
        />
        <Checkbox
          label="Decide automatically with rules"
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
        Try the demo town
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
          This is the demo town <strong>{data.place}</strong>: its businesses are made up, and live
          on this machine.
        </span>
      </p>
    );
  if (!data?.address) return null;
  return (
    <p className="demo-note" role="status">
      <Icon name="town" />
      <span>
        The demo town <strong>{data.place}</strong> is open in its own workspace.
      </span>
      <a className="button" href={data.address} target="_blank" rel="noopener">
        Visit the town
      </a>
      <Button busy={reset.isPending} onClick={() => reset.mutate()}>
        Reset the town
      </Button>
      <Button busy={close.isPending} onClick={() => close.mutate()}>
        Close the town
      </Button>
    </p>
  );
}
