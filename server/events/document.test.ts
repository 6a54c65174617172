import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { eventPayloads } from "../../contract/event-payloads.ts";
import { eventTypes } from "../../contract/events.ts";
import { withEvents } from "./document.ts";
import { exampleOf } from "./example.ts";

const file = new URL("../../docs/webhooks.md", import.meta.url);

test("docs/webhooks.md matches the schemas; `npm run document` generates it", async () => {
  const markdown = await readFile(file, "utf8");
  expect(markdown).toBe(withEvents(markdown));
});

test("every example in the documentation matches its event's schema, and every event has one", async () => {
  const markdown = await readFile(file, "utf8");
  const examples = [...markdown.matchAll(/^### (\S+)$[^]*?^```json\n([^]*?)\n```$/gm)];
  expect(examples.map(([, type]) => type)).toEqual(eventTypes);
  for (const [index, type] of eventTypes.entries()) {
    const example: unknown = JSON.parse(examples[index]?.[2] ?? "");
    expect(eventPayloads[type].parse(example)).toEqual(example);
    expect(example).toEqual(exampleOf(eventPayloads[type]));
  }
});
