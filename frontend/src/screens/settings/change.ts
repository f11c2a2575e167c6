/** Ask for a change, say how it went, and read the list again. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast, toastError } from "@/kit";

export function useChange(key: readonly string[]) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  async function change<T>(work: () => Promise<T>, said?: string): Promise<T | undefined> {
    setBusy(true);
    try {
      const answer = await work();
      if (said) toast({ kind: "good", text: said });
      return answer;
    } catch (error) {
      toastError(error);
      return undefined;
    } finally {
      setBusy(false);
      await queries.invalidateQueries({ queryKey: key });
    }
  }
  return { change, busy };
}
