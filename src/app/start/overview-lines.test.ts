import { describe, expect, test } from "vitest";
import type { Overview } from "../../../contract/overview.ts";
import { calmLine, messageLines, workerLines } from "./overview-lines.ts";

const calm: Overview = {
  workers: { total: 3, up: 3, stopped: 0, problems: [] },
  webhooks: { total: 1, problems: [] },
  channels: { total: 1, problems: [] },
};
const place = { server_id: 1, site_id: 4, site: "shop" };
const worker = {
  id: 7,
  ...place,
  queue: "emails",
  connection: "redis",
  status: "failed",
  is_crash_loop: false,
};

describe("the summary of what has no problems", () => {
  test.each<[string, Overview, string | null]>([
    ["all is well", calm, "3 workers up · 2 receivers reachable"],
    [
      "some are stopped",
      { ...calm, workers: { total: 3, up: 1, stopped: 2, problems: [] } },
      "1 of 3 workers up, 2 stopped · 2 receivers reachable",
    ],
    [
      "there is nothing",
      {
        workers: { total: 0, up: 0, stopped: 0, problems: [] },
        webhooks: { total: 0, problems: [] },
        channels: { total: 0, problems: [] },
      },
      null,
    ],
    [
      "a worker has trouble",
      { ...calm, workers: { ...calm.workers, problems: [{ ...worker, reason: null }] } },
      "2 receivers reachable",
    ],
  ])("when %s", (_when, overview, expected) => {
    expect(calmLine(overview)).toBe(expected);
  });
});

test("a worker's line shows what failed, why in one line, and links to it", () => {
  const problems = [
    { ...worker, reason: "Gave up after 4 starts.\nLast lines of the log:\nboom" },
    { ...worker, id: 8, status: "installed", is_crash_loop: true, reason: null },
  ];
  expect(workerLines({ ...calm.workers, problems })).toMatchObject([
    {
      tone: "bad",
      title: "shop: worker emails on redis failed",
      reason: "Gave up after 4 starts.",
      cure: { to: "/workers/7" },
    },
    { tone: "bad", title: "shop: worker emails on redis crash-looping", reason: null },
  ]);
});

test("a receiver's line distinguishes a disabled webhook from a failing one, and names a channel's message", () => {
  const lines = messageLines({
    ...calm,
    webhooks: {
      total: 2,
      problems: [
        {
          id: 1,
          ...place,
          host: "a.example",
          status: "disabled",
          failing_since: null,
          reason: "410",
        },
        {
          id: 2,
          ...place,
          host: "b.example",
          status: "enabled",
          failing_since: null,
          reason: null,
        },
      ],
    },
    channels: {
      total: 1,
      problems: [
        { id: 3, name: "ops", site_id: 4, title: "Deployed: shop", answer: "404", at: "" },
      ],
    },
  });
  expect(lines.map(({ tone, title, cure }) => [tone, title, cure.to])).toEqual([
    ["bad", "shop: webhook a.example disabled", "/webhooks/1"],
    ["bad", "shop: webhook b.example failing", "/webhooks/2"],
    ["bad", "Undelivered to ops: Deployed: shop", "/sites/4/notifications"],
  ]);
});

test("names a server whose backups notify nobody, and links to its channels", () => {
  const overview = {
    ...calm,
    servers_without_channels: [{ id: 2, name: "web-2", configurations: 3 }],
  };
  expect(messageLines(overview)).toMatchObject([
    {
      title: "web-2: no notifications for 3 backups",
      cure: { to: "/servers/2/notifications" },
    },
  ]);
  expect(calmLine(overview)).toBe("3 workers up");
});
