import { Gauge, Registry } from "prom-client";
import { expect, test } from "vitest";
import { formatGauge } from "./format.ts";

test("formats like prom-client", async () => {
  const values = [
    { labels: { server: 'a "b"\\\n', id: "1" }, value: 0.1 },
    { labels: { server: "", id: "2" }, value: -3 },
  ];
  const [name, help] = ["quarterdeck_things", "What\\it\nis."];
  const registry = new Registry();
  const labelled = { name, help, labelNames: ["server", "id"], registers: [registry] };
  const gauge = new Gauge(labelled);
  for (const { labels, value } of values) gauge.set(labels, value);
  expect(`${formatGauge({ name, help, values })}\n`).toBe(await registry.metrics());
});

test("formats a metric without values", () => {
  expect(formatGauge({ name: "quarterdeck_things", help: "None.", values: [] })).toBe(
    "# HELP quarterdeck_things None.\n# TYPE quarterdeck_things gauge",
  );
});

test("formats a value without labels", () => {
  const one = { name: "quarterdeck_things", help: "One.", values: [{ value: 1 }] };
  expect(formatGauge(one)).toMatch(/^quarterdeck_things 1$/m);
});
