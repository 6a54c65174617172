import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createBackupCounts } from "./metrics.ts";

test("a run during which the clock was set back lowers no sum of durations", async () => {
  const registry = new Registry();
  const counts = createBackupCounts(registry);
  counts.ran({ outcome: "finished", trigger: "manual", durationMs: -3_600_000, sizeBytes: 1 });
  const sum = 'quarterdeck_backup_run_duration_seconds_sum{outcome="finished"} ';
  expect((await registry.metrics()).split("\n")).toContain(`${sum}0`);
});
