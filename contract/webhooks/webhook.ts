// A site's webhooks: the URLs that are called when something happens on it.
import * as z from "zod/mini";
import { id, timestamp } from "../values.ts";

export const webhook = z
  .object({ id, url: z.string(), created_at: timestamp })
  .register(z.globalRegistry, { id: "Webhook" });
export type Webhook = z.infer<typeof webhook>;

/** `https:` or `http:` without credentials. Which hosts may be called is the service's to check. */
const callableUrl = z.string().check(
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

export const createWebhookBody = z
  .object({ url: callableUrl })
  .register(z.globalRegistry, { id: "CreateWebhook" });
