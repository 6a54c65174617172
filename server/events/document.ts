// The events in docs/webhooks.md, written from their schemas.
import { eventPayloads } from "../../contract/event-payloads.ts";
import { eventOccasions } from "../../contract/event-titles.ts";
import { eventTypes } from "../../contract/events.ts";
import { exampleOf, fieldsOf } from "./example.ts";

const begin =
  "<!-- The rest is written by `npm run document`, from contract/event-payloads.ts. -->";

/** Puts the events as they are now behind what a person wrote. */
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

/** Each field once, and where its meaning differs, once for each. */
function fieldTable(): string {
  const meanings = new Set(
    eventTypes.flatMap((type) =>
      fieldsOf(eventPayloads[type]).map(([name, description]) => `- \`${name}\`: ${description}`),
    ),
  );
  return `## Fields of \`data\`\n\nLater versions may add fields, and events.\n\n${[...meanings].toSorted().join("\n")}\n`;
}
