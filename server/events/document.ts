// Writes the tables of events in docs/webhooks.md from their schemas.
import { eventPayloads } from "../../contract/event-payloads.ts";
import { eventOccasions } from "../../contract/event-titles.ts";
import { eventTypes } from "../../contract/events.ts";
import { exampleOf, fieldsOf } from "./example.ts";

const begin =
  "<!-- The rest is written by `npm run document`, from contract/event-payloads.ts. -->";

/** Replaces the generated part of the page, after the part that people write. */
export function withEvents(markdown: string): string {
  const [written = ""] = markdown.split(begin);
  return `${written.trimEnd()}\n\n${begin}\n\n${eventsInMarkdown()}`;
}

function eventsInMarkdown(): string {
  const sections = eventTypes.map(
    (type) =>
      `### ${type}\n\n${eventOccasions[type]}\n\n\`\`\`json\n${JSON.stringify(exampleOf(eventPayloads[type]), null, 2)}\n\`\`\`\n`,
  );
  return `## Events\n\n${sections.join("\n")}\n${fieldTable()}`;
}

/** Lists each field once, or once per meaning where that differs by event. */
function fieldTable(): string {
  const meanings = new Set(
    eventTypes.flatMap((type) =>
      fieldsOf(eventPayloads[type]).map(([name, description]) => `- \`${name}\`: ${description}`),
    ),
  );
  return `## Fields of \`data\`\n\nLater versions may add fields, and events.\n\n${[...meanings].toSorted().join("\n")}\n`;
}
