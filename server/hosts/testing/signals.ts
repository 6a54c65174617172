// For the tests: what a task's process does with signals.
import { readFile } from "node:fs/promises";
import { defineTask } from "../task.ts";

export const tellSignals = defineTask(import.meta.url, "tellSignals", () =>
  readFile("/proc/self/status", "utf8"),
);
