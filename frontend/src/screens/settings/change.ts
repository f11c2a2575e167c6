/** Ask for a change, say how it went, and read the list again. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fieldErrors } from "@/api/problem";
import { toast, toastError } from "@/kit";

export function useChange(key: readonly string[]) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  /** What is wrong with which field of the form. */
  const [wrong, setWrong] = useState<Record<string, string>>({});
  async function change<T>(work: () => Promise<T>, said?: string): Promise<T | undefined> {
    setBusy(true);
    setWrong({});
    try {
      const answer = await work();
      if (said) toast({ kind: "good", text: said });
      return answer;
    } catch (error) {
      const found = fieldErrors(error);
      setWrong(found);
      if (Object.keys(found).length === 0) toastError(error);
      return undefined;
    } finally {
      setBusy(false);
      await queries.invalidateQueries({ queryKey: key });
    }
  }
  return { change, busy, wrong };
}
