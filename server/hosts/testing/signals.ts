// For the tests: a task that reports how its process handles signals.
import { readFile } from "node:fs/promises";
import { defineTask } from "../task.ts";

export const tellSignals = defineTask(import.meta.url, "tellSignals", () =>
  readFile("/proc/self/status", "utf8"),
);
