// Backups for tests.
import type { Backup } from "../../../contract/backups/backup.ts";

export const finished: Backup = {
  id: 1,
  path: "shop/1/1.sqlite.zst",
  size: 4096,
  output: "",
  status: "finished",
  restore_output: null,
  restore_status: null,
  started_at: "2026-06-10T02:30:00.000000Z",
  ended_at: "2026-06-10T02:30:00.000000Z",
  restored_at: null,
  duration: "1 second",
};
