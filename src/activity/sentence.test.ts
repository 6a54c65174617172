import { expect, test } from "vitest";
import type { ActivityEntry } from "../../contract/activity.ts";
import { goneIn, keyOf, sentenceOf } from "./sentence.ts";

const entry = (type: string, name: string, action: string, id = 7): ActivityEntry => ({
  id,
  at: "2026-01-31T09:30:00.000000Z",
  kind: "backup",
  action,
  outcome: null,
  actor: { type: "token", name: "ops" },
  object: { type, id, name },
  server_id: null,
  site_id: null,
  detail: null,
});

test.each([
  ["backup", "Shop", "failed", "Backup Shop failed", "/backups/7"],
  [
    "backup",
    "shop (imported)",
    "imported",
    "Import into backup shop (imported) finished",
    "/backups/7",
  ],
  [
    "backup-configuration",
    "Shop, nightly",
    "missed",
    "Scheduled run of backup Shop, nightly missed",
    "/backup-configurations/7",
  ],
  [
    "backup-configuration",
    "shop (adopted)",
    "adopted",
    "Backups adopted as shop (adopted)",
    "/backup-configurations/7",
  ],
  [
    "worker",
    "mail on redis (shop)",
    "created",
    "Worker mail on redis (shop) created",
    "/workers/7",
  ],
  [
    "worker",
    "mail on redis",
    "asked to stop",
    "Stop of worker mail on redis requested",
    "/workers/7",
  ],
  ["worker", "worker 7 of shop", "failed", "Worker 7 of shop failed", "/workers/7"],
  ["webhook", "ci.example.com", "created", "Webhook ci.example.com created", "/webhooks/7"],
  [
    "webhook",
    "ci.example.com",
    "delivery failed",
    "Delivery to webhook ci.example.com failed",
    "/webhooks/7",
  ],
  ["webhook-delivery", "12", "delivered", "Webhook delivery 12 delivered", null],
  ["site", "shop", "deployment failed", "Deployment of site shop failed", "/sites/7/workers"],
  ["site", "shop", "chosen", "Channels of site shop changed", "/sites/7/workers"],
  ["notification-channel", "ops", "undelivered", "Message to channel ops undelivered", null],
  ["token", "ci", "created", "Token ci created", null],
  ["token", "", "created", "Token 7 created", null],
  ["load-balancer", "front", "asked to drain", "Load balancer front drain requested", null],
  ["load-balancer", "front", "drained", "Load balancer front drained", null],
  ["constructor", "x", "made", "Constructor x made", null],
])("describes an entry in a sentence: %s %s %s", (type, name, action, text, to) => {
  const sentence = sentenceOf(entry(type, name, action));
  expect(`${sentence.before} ${sentence.name} ${sentence.after}`.trimEnd()).toBe(text);
  expect(sentence.to).toBe(to);
});

test("recognizes objects that an entry reports as deleted, and no others", () => {
  const entries = [
    entry("worker", "a", "deleted", 1),
    entry("worker", "b", "created", 2),
    entry("webhook", "c", "created", 1),
  ];
  const gone = goneIn(entries);
  expect(entries.map((one) => gone.has(keyOf(one)))).toEqual([true, false, false]);
});
