import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createRunner } from "./run.ts";
import { pipelineEnds, pipelineOf } from "./shell-pipeline.ts";

const run = createRunner({ PATH: process.env["PATH"] ?? "", HOME: "/" });

test("pipes programs into each other, with unchanged arguments", async () => {
  const odd = `a 'b' "c" $(id) \`id\` \\ ü *\n;`;
  const { stdout, stderr } = await run({
    argv: pipelineOf(["cat"], ["sh", "-c", 'cat; printf %s "$1"', "sh", odd], ["rev"], ["rev"]),
    input: Readable.from(["begin "]),
  });
  expect(stdout).toBe(`begin ${odd}`);
  expect(pipelineEnds(stderr)).toEqual([0, 0, 0, 0]);
});

test("reports each exit code, including that of a signal and of a missing program", async () => {
  const { stderr } = await run({
    argv: pipelineOf(
      ["sh", "-c", "exit 7"],
      ["sh", "-c", "echo words >&2; kill -KILL $$"],
      ["no-such-program-here"],
      ["true"],
    ),
  });
  expect(pipelineEnds(stderr)).toEqual([7, 137, 127, 0]);
});

test("reports nothing for a killed shell", () => {
  expect(pipelineEnds("quarterdeck ended 0 0\nKilled\n")).toBeNull();
  expect(pipelineEnds("")).toBeNull();
});
