// When a run stores a full anew, however small the changes are.

/** After so long a full is old: what has changed since then was stored again with each backup. */
export const fullKeptDays = 7;
/** So many backups may hang on one file. */
export const maxPatches = 30;
