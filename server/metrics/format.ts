// Writes gauges as Prometheus reads them. prom-client keeps an object for each value, which for the metrics of 10,000
// configurations takes ten times as long. https://prometheus.io/docs/instrumenting/exposition_formats/
import type { Labels, Metric } from "./part.ts";

const escapes: Record<string, string> = { "\\": "\\\\", "\n": "\\n", '"': '\\"' };
const escape = (text: string) =>
  /[\\\n"]/.test(text) ? text.replace(/[\\\n"]/g, (character) => escapes[character] ?? "") : text;

const formatLabels = (labels: Labels = {}): string => {
  let text = "";
  for (const name in labels)
    text += `${text === "" ? "" : ","}${name}="${escape(labels[name] ?? "")}"`;
  return text === "" ? "" : `{${text}}`;
};

/** Lines, without one at the end. */
export const formatGauge = ({ name, help, values }: Metric): string =>
  [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} gauge`,
    ...values.map(({ labels, value }) => `${name}${formatLabels(labels)} ${value}`),
  ].join("\n");
