/** What is asked about connections, and how many leads each has written. */
import type { Schemas } from "@/api/types";

export type CrmConnection = Schemas["ConnectionOut"];
export const CONNECTIONS = ["connections"] as const;
const WAITING = ["queued", "sending", "unknown"];

export const waitingOf = ({ counts }: CrmConnection): number =>
  WAITING.reduce((sum, state) => sum + (counts?.[state] ?? 0), 0);
export const writtenOf = ({ counts }: CrmConnection): number => counts?.done ?? 0;
