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

/** What a field is called there, by its kind and name; as we know it until that was read. */
export function useLabelsThere(connection: CrmConnection) {
  const schemas = {
    company: useFieldsThere(connection, "company").data,
    person: useFieldsThere(connection, "person").data,
  };
  return (kind: string, name: string): string =>
    schemas[kind === "person" ? "person" : "company"]?.fields.find((one) => one.name === name)
      ?.label ?? name;
}
