import { expect, test } from "vitest";
import { abbreviateEmail, abbreviateWebhook } from "./abbreviate.ts";

test.each([
  ["https://hooks.slack.com/services/T0/B0/xyza1b2", "https://hooks.slack.com/…a1b2"],
  ["https://hooks.slack.com/services/T0/B0/xyza1b2/", "https://hooks.slack.com/…a1b2"],
  ["https://discord.com/api/webhooks/1/abcdefgh?thread_id=7", "https://discord.com/…efgh"],
  ["https://user:secret@chat.example:8443/abcdefgh#x", "https://chat.example:8443/…efgh"],
  ["https://chat.example/T0/abc", "https://chat.example/…c"],
  ["https://chat.example/services-secret/a", "https://chat.example/…"],
  ["https://chat.example/", "https://chat.example/…"],
  ["https://chat.example?token=secret", "https://chat.example/…"],
  ["secret", "…"],
  ["mailto:secret", "…"],
  ["", "…"],
])("shows the webhook %s as %s", (webhook, shown) => {
  expect(abbreviateWebhook(webhook)).toBe(shown);
});

test.each([
  ["oncall@example.com", "o…@example.com"],
  ["ab@example.com", "a…@example.com"],
  ["a@example.com", "…@example.com"],
  ["🎉party@example.com", "🎉…@example.com"],
  ['"a@b"@example.com', '"…@example.com'],
  ["@example.com", "…"],
  ["oncall", "…"],
  ["", "…"],
])("shows the address %s as %s", (email, shown) => {
  expect(abbreviateEmail(email)).toBe(shown);
});
