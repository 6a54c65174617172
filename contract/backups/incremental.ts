// When a run stores a full backup, however small the changes are.

/** Maximum age of a full backup: each later backup stores all changes since then again. */
export const fullKeptDays = 7;
/** Maximum number of incremental backups that depend on one full backup. */
export const maxPatches = 30;
