import * as z from "zod/mini";
import { subscribableEvents } from "../events.ts";
import { optionalLine, moment, pastedText } from "../inputs.ts";

/** An `https:` or `http:` URL without credentials. The service checks whether its host is allowed. */
const callableUrl = pastedText().check(
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

/**
 * Which deliveries to send again. Without any field: those that were missed while the webhook was disabled or paused. With `status`
 * or `since`: those that failed, oldest first; `since` is the earliest end of a delivery.
 */
export const redeliverBody = z
  .object({ status: z.optional(z.literal("failed")), since: z.optional(moment) })
  .register(z.globalRegistry, { id: "Redeliver" });
export type RedeliverBody = z.infer<typeof redeliverBody>;

const settings = {
  description: z.optional(optionalLine(200)),
  /** The events to subscribe to; null = all. */
  events: z.optional(z.nullable(z.array(z.enum(subscribableEvents)).check(z.minLength(1)))),
};

export const createWebhookBody = z
  .object({ url: callableUrl, ...settings })
  .register(z.globalRegistry, { id: "CreateWebhook" });
export type CreateWebhookBody = z.infer<typeof createWebhookBody>;

/** An absent field stays unchanged. */
export const updateWebhookBody = z
  .object({
    url: z.optional(callableUrl),
    ...settings,
    /** False pauses the webhook; true ends a pause and enables a disabled webhook. */
    enabled: z.optional(z.boolean()),
  })
  .register(z.globalRegistry, { id: "UpdateWebhook" });
export type UpdateWebhookBody = z.infer<typeof updateWebhookBody>;
