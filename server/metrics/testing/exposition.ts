// Parses the text format of Prometheus as strictly as Prometheus does.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
import { expect } from "vitest";
import type { TestService } from "../../testing/service.ts";

type Sample = { name: string; labels: Record<string, string>; value: number };
export type Exposed = {
  samples: Sample[];
  /** Type by name of the metric. */
  types: Map<string, string>;
  /** Returns the value of the only sample with these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
};

const name = /[a-zA-Z_:][a-zA-Z0-9_:]*/.source;
const label = /[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"/.source;
const sampleLine = new RegExp(`^(${name})(?:\\{((?:${label})(?:,${label})*)?\\})? (\\S+)$`);

function parseMetrics(text: string): Exposed {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split("\n")) {
    const [, typed, kind] = /^# TYPE (\S+) (gauge|counter|histogram|summary)$/.exec(line) ?? [];
    if (typed !== undefined) {
      expect(types.has(typed), `${typed} is announced once`).toBe(false);
      types.set(typed, kind ?? "");
    } else if (line !== "" && !line.startsWith("# HELP ")) {
      const [, sampled = "", labels = "", value = ""] = sampleLine.exec(line) ?? [];
      expect(sampled, `a sample: ${line}`).not.toBe("");
      const key = line.slice(0, line.lastIndexOf(" "));
      expect(seen.has(key), `${key} is there once`).toBe(false);
      seen.add(key);
      samples.push({
        name: sampled,
        labels: Object.fromEntries(
          Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, of = "", text = ""]) => [
            of,
            text,
          ]),
        ),
        value: value === "+Inf" ? Infinity : Number(value),
      });
      // The event loop has no mean before its first measurement.
      if (!sampled.startsWith("nodejs_")) expect(samples.at(-1)?.value, line).not.toBeNaN();
    }
  }
  const fits = (wanted: Record<string, string>) => (sample: Sample) =>
    Object.entries(wanted).every(([of, text]) => sample.labels[of] === text);
  return {
    samples,
    types,
    value(of, labels = {}) {
      const found = samples.filter((sample) => sample.name === of).filter(fits(labels));
      expect(found.length, `samples of ${of} ${JSON.stringify(labels)}`).toBeLessThan(2);
      return found[0]?.value;
    },
  };
}

export async function scrape(service: Pick<TestService, "call">): Promise<Exposed> {
  const response = await service.call("GET", "/metrics");
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return parseMetrics(await response.text());
}
