// For tests, whose files are new and lie in memory: times are trusted there, too.
import { trustedTimes, type TrustedTimes } from "../sources/folder/state.ts";

export const anyTimes: TrustedTimes = {
  fileSystems: new Set([...trustedTimes.fileSystems, "tmpfs"]),
  settledSeconds: 0,
};
