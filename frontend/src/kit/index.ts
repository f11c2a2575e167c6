/** Everything a screen is made of. */
export * from "./Button";
export * from "./cause";
export * from "./Dialog";
export * from "./Empty";
export * from "./Field";
export * from "./format";
export * from "./Icon";
export * from "./Menu";
export * from "./Panel";
export * from "./Status";
export * from "./said";
export * from "./Table";
export * from "./Tabs";
export * from "./Time";
export * from "./Toast";
export * from "./useWidth";
export * from "./Wait";
