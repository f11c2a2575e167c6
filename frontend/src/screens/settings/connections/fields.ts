import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import type { CrmConnection } from "./shown";

/** The fields of a CRM's own schema, with their labels, and what goes where now. */
export function useFieldsThere({ id, mapping }: CrmConnection, kind: Schemas["CrmKind"]) {
  const path = { connection_id: id };
  return useQuery({
    queryKey: ["crm-fields", id, kind, mapping],
    queryFn: () => read("/connections/{connection_id}/fields", { path, query: { kind } }),
    placeholderData: (before) => before,
  });
}
