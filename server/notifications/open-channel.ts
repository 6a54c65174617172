// Opens channels from their inventory entries. A new type of channel needs a file of its own, a row here and a schema.
import { SecretMissing, type SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore, NotificationChannelEntry } from "../inventory/store.ts";
import { abbreviateEmail, abbreviateWebhook } from "./channels/abbreviate.ts";
import { type Channel, ChannelError } from "./channels/channel.ts";
import { createDiscordChannel } from "./channels/discord.ts";
import { createEmailChannel } from "./channels/email.ts";
import { createSlackChannel } from "./channels/slack.ts";
import type { SmtpSettings } from "./channels/smtp-url.ts";

type OpenChannelOptions = {
  inventory: Pick<InventoryStore, "findNotificationChannel">;
  secrets: SecretReader;
  smtp: SmtpSettings | null;
};

const purposeOf = ({ id, name }: NotificationChannelEntry) =>
  `the webhook of notification channel ${id} (${name})`;

/**
 * Creates the functions that open a channel, by its id in the inventory or by an entry. Both throw ChannelError if the channel is not
 * set up correctly.
 */
export function createOpenChannel({ inventory, secrets, smtp }: OpenChannelOptions) {
  const webhookOf = async (entry: NotificationChannelEntry & { webhook: string }) => {
    try {
      return (await secrets.read(entry.webhook, purposeOf(entry))).trim();
    } catch (error) {
      // Not permanent: the secret may be set by the next attempt.
      if (error instanceof SecretMissing) throw new ChannelError(error.message, { cause: error });
      throw error;
    }
  };

  const openEntry = async (entry: NotificationChannelEntry): Promise<Channel> => {
    switch (entry.type) {
      case "slack":
        return createSlackChannel({ webhook: await webhookOf(entry) });
      case "discord":
        return createDiscordChannel({ webhook: await webhookOf(entry) });
      case "email":
        return createEmailChannel({ email: entry.email, smtp });
    }
  };

  const open = async (id: number): Promise<Channel> => {
    const entry = await inventory.findNotificationChannel(id);
    if (entry === null)
      throw new ChannelError("The channel is no longer in the inventory.", { isPermanent: true });
    return openEntry(entry);
  };
  return { open, openEntry };
}

export type OpenChannel = ReturnType<typeof createOpenChannel>["open"];

/** Creates the function that describes a channel: its abbreviated address, and why its setup does not allow sending. */
export function createDescribeChannel({ secrets, smtp }: Omit<OpenChannelOptions, "inventory">) {
  return async (
    entry: NotificationChannelEntry,
  ): Promise<{ meta: { webhook?: string; email?: string }; trouble: string | null }> => {
    if (entry.type === "email")
      return {
        meta: { email: abbreviateEmail(entry.email) },
        trouble:
          smtp === null
            ? "Email isn't configured: SMTP_URL is not set. Set SMTP_URL and restart the service."
            : null,
      };
    try {
      const webhook = (await secrets.read(entry.webhook, purposeOf(entry))).trim();
      return { meta: { webhook: abbreviateWebhook(webhook) }, trouble: null };
    } catch (error) {
      if (!(error instanceof SecretMissing)) throw error;
      return { meta: { webhook: "…" }, trouble: error.message };
    }
  };
}

export type DescribeChannel = ReturnType<typeof createDescribeChannel>;
