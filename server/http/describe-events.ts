// Describes the requests to webhooks, for `webhooks` in the OpenAPI description.
import { eventPayloads } from "../../contract/event-payloads.ts";
import { eventOccasions, eventTitles } from "../../contract/event-titles.ts";
import { eventTypes } from "../../contract/events.ts";
import { exampleOf } from "../events/example.ts";
import { hoist, type Json } from "./schema-components.ts";

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

const headers = [
  header("webhook-id", "The same over all attempts.", "msg_2mKJx0Vb8yQe4nTcR7fWzLd1aHs"),
  header("webhook-timestamp", "Unix seconds of this attempt.", "1769851800"),
  header(
    "webhook-signature",
    "`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; two of them, apart by a space, while a rotation lasts.",
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  ),
];

/**
 * Returns the `webhooks` of an OpenAPI 3.1 description, by event.
 * @param components receives the schemas of the events
 * @see https://spec.openapis.org/oas/v3.1.0#fixed-fields
 */
export const describeEvents = (components: Json): Json =>
  Object.fromEntries(
    eventTypes.map((type) => [
      type,
      {
        post: {
          summary: eventTitles[type],
          description: eventOccasions[type],
          tags: ["webhooks"],
          security: [],
          parameters: headers,
          requestBody: {
            required: true,
            content: {
              "application/json": {
                // An input schema allows further fields, which later versions may add.
                schema: hoist(eventPayloads[type], "input", components),
                example: exampleOf(eventPayloads[type]),
              },
            },
          },
          responses: {
            "2XX": { description: "The event is delivered." },
            410: { description: "Unsubscribes: Quarterdeck disables the webhook." },
            default: { description: "The attempt failed. Quarterdeck retries." },
          },
        },
      },
    ]),
  );
