/** The one next step after a search or an import: find whom to contact. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ofKind, read, write } from "@/api/client";
import { kindNamed } from "@/api/kinds";
import { useMay } from "@/app/session";
import { Button, toast, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/funnel";

interface FindContactsProps {
  searchId: string;
  small?: boolean;
}

/** Offered while places of the search wait for somebody; gone when none does. */
export function FindContacts({ searchId, small = false }: FindContactsProps) {
  const queries = useQueryClient();
  const may = useMay("curate");
  const [busy, setBusy] = useState(false);
  const waiting = useQuery({
    queryKey: ["searches", searchId, "undecided"],
    queryFn: () => countUndecided(searchId),
    enabled: may,
  });
  if (!may || !waiting.data) return null;
  async function find() {
    setBusy(true);
    try {
      const path = { record_id: searchId };
      const begun = await write("POST", "/searches/{record_id}/find-contacts", { path });
      const action = begun.action_id;
      toast({
        kind: "good",
        text: begun.selected ? texts.find.begun(begun.selected) : texts.find.nothingLeft,
        ...(action && {
          action: {
            name: common.undo,
            run: async () => {
              await write("POST", "/actions/{action_id}/undo", { path: { action_id: action } });
              await queries.invalidateQueries({ queryKey: ["searches"] });
            },
          },
        }),
      });
      await queries.invalidateQueries({ queryKey: ["searches"] });
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  }
  return (
    <Button look="primary" icon="users" small={small} busy={busy} onClick={() => void find()}>
      {texts.find.findContacts(waiting.data)}
    </Button>
  );
}

async function countUndecided(searchId: string): Promise<number> {
  const places = kindNamed("places");
  if (!places) return 0;
  const query = { field: places.status, filter: [`search_id:equal:${searchId}`] };
  const { facets } = await read(ofKind(places, "/facets"), { query });
  const found = facets[places.status]?.find(({ value }) => value === places.undecided);
  return found?.count ?? 0;
}
