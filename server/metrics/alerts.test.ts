// Rules for a metric that does not exist would never fire, unnoticed.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod/mini";
import {
  createBackupTestService,
  type BackupTestService,
} from "../backups/testing/backup-service.ts";
import { scrape, type Exposed } from "./testing/exposition.ts";

const rule = z.strictObject({
  alert: z.string().check(z.regex(/^[A-Z][A-Za-z]+$/)),
  expr: z.string(),
  for: z.optional(z.string().check(z.regex(/^\d+[mh]$/))),
  labels: z.strictObject({ severity: z.enum(["critical", "warning"]) }),
  annotations: z.strictObject({ summary: z.string(), description: z.optional(z.string()) }),
});
const file = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })),
});

const text = await readFile(new URL("../../docs/alerts.yaml", import.meta.url), "utf8");
const rules = file.parse(parse(text)).groups.flatMap(({ rules }) => rules);

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService({
    selfBackup: { providerId: 1, keep: 1, recipients: null },
  });
});
afterAll(() => service.close());

let scraped: Promise<Exposed> | null = null;
/** Returns the metrics of a service that has something of everything to report. */
const readExposed = () =>
  (scraped ??= (async () => {
    await service.installed();
    return scrape(service);
  })());

/** Metrics that Prometheus itself adds. */
const ofPrometheus = new Set(["up"]);

/** Matches `name{label="value"}`, and a name alone. */
const selectorsOf = (expression: string) =>
  Array.from(
    expression.matchAll(/\b(up|(?:quarterdeck|process|nodejs)_\w+)(?:\{([^}]*)\})?/g),
    ([, name = "", matchers = ""]) => ({
      name,
      labels: Object.fromEntries(
        Array.from(matchers.matchAll(/(\w+)="([^"]*)"/g), ([, label = "", value = ""]) => [
          label,
          value,
        ]),
      ),
    }),
  );

test("has no duplicate alert, and the four important ones", () => {
  const names = rules.map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining(["QuarterdeckDown", "BackupTooOld", "WorkerFailed", "WebhookDead"]),
  );
});

describe.each(rules)("$alert", ({ expr, annotations }) => {
  test("uses metrics that the service exposes, with existing labels", async () => {
    const { samples, types } = await readExposed();
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { name, labels } of selectors) {
      if (ofPrometheus.has(name)) continue;
      expect(types.has(name), name).toBe(true);
      const found = samples.filter((sample) => sample.name === name);
      for (const [label, value] of Object.entries(labels))
        expect(
          found.map((sample) => sample.labels[label]),
          `${name}{${label}}`,
        ).toContain(value);
    }
  });

  test("mentions labels that its metrics have", async () => {
    const { samples } = await readExposed();
    const names = selectorsOf(expr).map(({ name }) => name);
    const found = samples.filter(({ name }) => names.includes(name));
    const spoken = Object.values(annotations)
      .join(" ")
      .matchAll(/\$labels\.(\w+)/g);
    for (const [, label = ""] of spoken)
      for (const sample of found) expect(sample.labels).toHaveProperty(label);
    // Otherwise a selector without any match would go unnoticed.
    if (!names.some((name) => ofPrometheus.has(name))) expect(found).not.toEqual([]);
  });
});
