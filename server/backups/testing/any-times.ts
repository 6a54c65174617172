// Trusts modification times of new files and of files in memory, which tests use.
import { trustedTimes, type TrustedTimes } from "../sources/folder/state.ts";

export const anyTimes: TrustedTimes = {
  fileSystems: new Set([...trustedTimes.fileSystems, "tmpfs"]),
  settledSeconds: 0,
};
