export const instanceRoles = ["all", "api", "runner"] as const;
/** What an instance does: serve requests (`api`), look after servers (`runner`), or both. */
export type InstanceRole = (typeof instanceRoles)[number];
