export const instanceRoles = ["all", "api", "runner"] as const;
/** What an instance does: serve requests, look after servers, or both. */
export type InstanceRole = (typeof instanceRoles)[number];
