/** Short names for what the server's own description calls its values. */
import type { components } from "./schema";

export type Schemas = components["schemas"];

export type Stage = Schemas["StageOut"];
export type Throughput = Schemas["ThroughputOut"];
export type Trouble = Schemas["TroubleOut"];
export type Job = Schemas["JobOut"];
export type Session = Schemas["SessionOut"];
export type Permission = Schemas["Permission"];
