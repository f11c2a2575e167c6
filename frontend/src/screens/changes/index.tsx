/** What changed since one last looked: old and new, each with where it was seen. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import {
  Button,
  Empty,
  Failure,
  Panel,
  relative,
  ScreenHead,
  Skeleton,
  TabPanel,
  Tabs,
  toastError,
} from "@/kit";
import { texts } from "@/texts/changes";
import { ChangeRow } from "./ChangeRow";
import "./changes.css";

const SHOWN = 50;
type Since = "last-look" | "all";

export default function WhatChanged() {
  const queries = useQueryClient();
  const [since, setSince] = useState<Since>("last-look");
  const [what, setWhat] = useState("");
  const list = useInfiniteQuery({
    queryKey: ["whats-changed", since, what],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      read("/whats-changed", {
        query: {
          since: since === "all" ? undefined : since,
          what,
          limit: SHOWN,
          cursor: pageParam,
        },
      }),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const [first] = list.data?.pages ?? [];
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const look = useMutation({
    mutationFn: () =>
      write("POST", "/whats-changed/looked", { body: { at: items[0]?.at ?? null } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["whats-changed"] }),
    onError: toastError,
  });
  const isNew = since === "last-look";
  return (
    <div className="screen">
      <ScreenHead
        title={texts.screen.title}
        about={
          first
            ? texts.screen.about(
                isNew && first.looked_at ? relative(first.looked_at) : null,
                first.total.count,
              )
            : texts.screen.loading
        }
        actions={
          isNew &&
          items.length > 0 && (
            <Button icon="check" look="primary" busy={look.isPending} onClick={() => look.mutate()}>
              {texts.screen.looked}
            </Button>
          )
        }
      />
      <Tabs<Since>
        label={texts.screen.shown}
        open={since}
        onOpen={setSince}
        tabs={[
          { id: "last-look", name: texts.screen.sinceLook },
          { id: "all", name: texts.screen.everything },
        ]}
      />
      <TabPanel id={since}>
        {first && <Kinds counts={first.counts} open={what} onOpen={setWhat} />}
        {list.error && !first && <Failure error={list.error} retry={() => void list.refetch()} />}
        {!first && !list.error && <Skeleton lines={8} />}
        {first && items.length === 0 && (
          <Empty icon="clock" title={texts.screen.nothing}>
            {texts.screen.nothingText}
          </Empty>
        )}
        {items.length > 0 && (
          <Panel flush>
            <ul className="changes">
              {items.map((change) => (
                <ChangeRow key={change.id} change={change} />
              ))}
            </ul>
          </Panel>
        )}
        {list.hasNextPage && (
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {texts.screen.more}
          </Button>
        )}
      </TabPanel>
    </div>
  );
}

interface KindsProps {
  counts: Record<string, number>;
  open: string;
  onOpen: (what: string) => void;
}

/** How much there is of each kind; one is chosen by pressing it. */
function Kinds({ counts, open, onOpen }: KindsProps) {
  const names = Object.keys(texts.what).filter((name) => counts[name] || name === open);
  if (names.length === 0) return null;
  return (
    <div className="row wrap changes-kinds">
      <Button small look={open ? "quiet" : "plain"} aria-pressed={!open} onClick={() => onOpen("")}>
        {texts.screen.all}
      </Button>
      {names.map((name) => (
        <Button
          key={name}
          small
          look={open === name ? "plain" : "quiet"}
          aria-pressed={open === name}
          onClick={() => onOpen(name)}
        >
          {texts.screen.newCount(texts.what[name] ?? name, counts[name] ?? 0)}
        </Button>
      ))}
    </div>
  );
}
