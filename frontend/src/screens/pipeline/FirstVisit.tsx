import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import { Link } from "@/app/router";
import { Button, Checkbox, Icon, type IconName, Select, toastError } from "@/kit";

const STEPS: readonly { icon: IconName; name: string; text: string }[] = [
  {
    icon: "search",
    name: "Search",
    text: "Enter a business type and a place. You see the cost first.",
  },
  { icon: "check", name: "Decide", text: "Keep what fits at every step, with single keys." },
  { icon: "contact", name: "Export", text: "Contacts, with the source of every value." },
];
const SIZES = [
  { value: "20", label: "20 businesses, under a minute" },
  { value: "100", label: "100 businesses" },
  { value: "300", label: "300 businesses, a minute or two" },
];

const DEMO = ["demo"] as const;

const useDemo = () =>
  useQuery({
    queryKey: DEMO,
    queryFn: () => read("/demo"),
    refetchInterval: ({ state }) => (state.data?.is_opening ? 500 : 5000),
  });

/** An empty system explains itself, and offers two ways to begin. */
export function FirstVisit() {
  const demo = useDemo();
  return (
    <section className="first panel" aria-label="Welcome">
      <div className="first-head">
        <h2>Welcome. There is no data yet.</h2>
        <p className="soft">
          A search finds businesses. ScraperSky visits their websites and collects contacts. The
          pipeline below shows each step.
        </p>
      </div>
      <ol className="first-steps">
        {STEPS.map((step) => (
          <li key={step.name}>
            <span className="empty-icon">
              <Icon name={step.icon} size={22} />
            </span>
            <div>
              <h3>{step.name}</h3>
              <p className="small soft">{step.text}</p>
            </div>
          </li>
        ))}
      </ol>
      <div className="first-ways">
        {demo.data?.is_available && <DemoOffer />}
        <div className="first-way">
          <h3>Start a search</h3>
          <p className="small soft">
            OpenStreetMap needs no API key. Only public websites are visited, at a polite pace.
          </p>
          <Link to="/search" className="button">
            Start a search
          </Link>
        </div>
      </div>
    </section>
  );
}

function DemoOffer() {
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
      <Button busy={close.isPending} onClick={() => close.mutate()}>
        Close the town
      </Button>
    </p>
  );
}
