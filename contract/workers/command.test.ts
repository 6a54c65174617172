import { expect, test } from "vitest";
import { defaultArtisan, toCommandLine, workerArguments } from "./command.ts";

const settings = {
  connection: "redis",
  queue: "high,{low}",
  sleep: 3,
  tries: 1,
  timeout: 60,
  memory: 128,
  max_jobs: 0,
  max_time: 3600,
  force: false,
};

test("has every option, in a fixed order", () => {
  expect(toCommandLine(workerArguments(defaultArtisan, settings))).toBe(
    "php artisan queue:work redis '--queue=high,{low}' --sleep=3 --tries=1 --timeout=60 --memory=128 --max-jobs=0 --max-time=3600",
  );
});

test("puts force at the end", () => {
  expect(workerArguments(["php8.3", "artisan"], { ...settings, force: true }).at(-1)).toBe(
    "--force",
  );
});

test("quotes what a shell would split when the command is shown", () => {
  expect(toCommandLine(["/opt/my php/bin", "it's"])).toBe(`'/opt/my php/bin' 'it'\\''s'`);
});
