// Renders a message as plain text and as HTML, in which all text is escaped.
import type { Message } from "./channel.ts";

const colors = { good: "#16a34a", bad: "#dc2626", neutral: "#64748b" } satisfies Record<
  Message["outcome"],
  string
>;

export function renderText({ title, facts, reason, link }: Message): string {
  const parts = [
    title,
    facts.map(([label, value]) => `${label}: ${value}`).join("\n"),
    reason ?? "",
    link ?? "",
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

// Inline styles, because mail programs drop style sheets.
export function renderHtml({ outcome, title, facts, reason, link }: Message): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th style="text-align:left;vertical-align:top;padding:2px 16px 2px 0">${escape(label)}</th>` +
      `<td style="white-space:pre-wrap;padding:2px 0">${escape(value)}</td></tr>`,
  );
  const parts = [
    `<h1 style="font-size:18px;border-left:4px solid ${colors[outcome]};padding-left:12px">${escape(title)}</h1>`,
    rows.length === 0 ? "" : `<table style="border-spacing:0">${rows.join("")}</table>`,
    reason === null
      ? ""
      : `<pre style="white-space:pre-wrap;background:#f1f5f9;padding:12px">${escape(reason)}</pre>`,
    link === null ? "" : `<p><a href="${escape(link)}">Open in Quarterdeck</a></p>`,
  ];
  return `<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family:sans-serif">${parts.join("")}</body></html>`;
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? "");
