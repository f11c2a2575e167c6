/** From place to deal: one search at a time, in bars that can be compared. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "@/api/client";
import { Failure, money, Panel, Select, Skeleton } from "@/kit";
import { kindOf, placeOf, type Search, useSearches } from "@/screens/search/data";
import { FindContacts } from "@/screens/search/FindContacts";
import { LeadFunnel } from "@/screens/search/LeadFunnel";
import { texts } from "@/texts/results";

export function Funnels() {
  const searches = useSearches();
  const [chosen, setChosen] = useState("");
  const all = searches.data?.items ?? [];
  const search = all.find(({ id }) => id === chosen) ?? all[0];
  return (
    <Panel title={texts.funnels.title} about={texts.funnels.about}>
      {searches.error ? (
        <Failure error={searches.error} retry={() => void searches.refetch()} />
      ) : !searches.data ? (
        <Skeleton lines={6} />
      ) : !search ? (
        <p className="small soft">{texts.funnels.none}</p>
      ) : (
        <div className="stack wide">
          <Select
            label={texts.funnels.search}
            value={search.id}
            options={all.map((one) => ({
              value: one.id,
              label: `${kindOf(one)} · ${placeOf(one)}`,
            }))}
            onChange={({ target }) => setChosen(target.value)}
          />
          <OneFunnel key={search.id} search={search} />
        </div>
      )}
    </Panel>
  );
}

export function OneFunnel({ search }: { search: Search }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["funnels", search.id, search.found_count],
    queryFn: () => read("/reports/funnels", { query: { search_id: [search.id] } }),
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  const [funnel] = data ?? [];
  if (!funnel) return <Skeleton lines={6} />;
  return (
    <>
      <LeadFunnel funnel={funnel} />
      <div className="row wrap">
        <FindContacts searchId={search.id} />
        {Number(search.spent) > 0 && (
          <span className="small soft">{texts.funnels.cost(money(Number(search.spent)))}</span>
        )}
      </div>
    </>
  );
}
