/** What the records of a kind can be filtered by, as the server says. */
import { useQuery } from "@tanstack/react-query";
import { ofKind, read } from "@/api/client";
import type { Kind } from "@/api/kinds";

export function useFields(kind: Kind, enabled = true) {
  return useQuery({
    queryKey: ["fields", kind.name],
    queryFn: () => read(ofKind(kind, "/fields")),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
}
