import { expect, test } from "vitest";
import { measures, pointsOf, readout, runsOf, timeOf } from "./usage-series.ts";

const at = (seconds: number) =>
  new Date(1_700_000_000_000 + seconds * 1000).toISOString().replace("Z", "000Z");
const sample = (seconds: number, cpu = 1) => ({ at: at(seconds), cpu, memory: 50 * 1024 ** 2 });
const process = {
  number: 1,
  starts: [at(-100), at(20)],
  samples: [sample(0), sample(15, 12.3456), sample(30), sample(300)],
};
const [cpu, memory] = measures;

test("marks a start at the next sample, and shows the time without a process as a gap", () => {
  if (cpu === undefined) throw new Error("CPU is measured.");
  const points = pointsOf(process, cpu);
  expect(points.map(({ started }) => started)).toEqual([at(-100), null, at(20), null]);
  expect(runsOf(points, 15_000).map((run) => run.length)).toEqual([3, 1]);
});

test("a point shows its value and its time, and a preceding start", () => {
  if (cpu === undefined || memory === undefined) throw new Error("Both are measured.");
  const [, second, third] = pointsOf(process, cpu);
  const [first] = pointsOf(process, memory);
  const time = (seconds: number) => timeOf(Date.parse(at(seconds)));
  expect(second && readout(second, cpu)).toBe(`12.3 % at ${time(15)}`);
  expect(third && readout(third, cpu)).toBe(`1 % at ${time(30)}, started at ${time(20)}`);
  expect(first && readout(first, memory)).toContain("50 MB at");
});

const megabyte = 1024 ** 2;

test.each([
  [cpu, 0.4, "10 %"],
  [cpu, 10, "10 %"],
  [cpu, 130, "200 %"],
  [memory, megabyte, "10 MB"],
  [memory, 51 * megabyte, "100 MB"],
  [memory, 500 * megabyte, "500 MB"],
  [memory, 501 * megabyte, "512 MB"],
  [memory, 600 * megabyte, "1 GB"],
  [memory, 1500 * megabyte, "2 GB"],
])("the axis ends at a round value: %o above %d at %s", (measure, largest, end) => {
  if (measure === undefined) throw new Error("Both are measured.");
  expect(measure.format(measure.topOf(largest))).toBe(end);
});
