import * as z from "zod/mini";
import { subscribableEvents } from "../events.ts";
import { optionalLine, moment, storableText } from "../inputs.ts";

/** `https:` or `http:` without credentials. Which hosts may be called is the service's to check. */
const callableUrl = storableText().check(
  z.minLength(1),
  z.maxLength(2048),
  z.refine(
    (text) => {
      const url = URL.parse(text);
      return (
        url !== null &&
        (url.protocol === "https:" || url.protocol === "http:") &&
        url.username === "" &&
        url.password === ""
      );
    },
    { error: "The url field must be an http or https URL without credentials." },
  ),
);

/** Without a field: what was missed while disabled or paused. With one: whatever failed, oldest first. */
export const redeliverBody = z
  .object({ status: z.optional(z.literal("failed")), since: z.optional(moment) })
  .register(z.globalRegistry, { id: "Redeliver" });
export type RedeliverBody = z.infer<typeof redeliverBody>;

const settings = {
  description: z.optional(optionalLine(200)),
  /** Null = all. */
  events: z.optional(z.nullable(z.array(z.enum(subscribableEvents)).check(z.minLength(1)))),
};

export const createWebhookBody = z
  .object({ url: callableUrl, ...settings })
  .register(z.globalRegistry, { id: "CreateWebhook" });
export type CreateWebhookBody = z.infer<typeof createWebhookBody>;

/** What is left out keeps what is stored. */
export const updateWebhookBody = z
  .object({
    url: z.optional(callableUrl),
    ...settings,
    /** False pauses it, true ends the pause and enables a disabled one. */
    enabled: z.optional(z.boolean()),
  })
  .register(z.globalRegistry, { id: "UpdateWebhook" });
export type UpdateWebhookBody = z.infer<typeof updateWebhookBody>;
