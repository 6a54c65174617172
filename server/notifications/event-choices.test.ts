// Selection of the events that each channel of a site or server is notified about.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { FieldErrors } from "../../contract/errors.ts";
import { eventTypes, problemEvents } from "../../contract/events.ts";
import type { NotificationEvents } from "../../contract/notifications/notification.ts";
import { outcomeOf } from "../events/event.ts";
import {
  createNotificationTestService,
  soon,
  type NotificationTestService,
} from "./testing/notification-service.ts";

let service: NotificationTestService;
beforeAll(async () => {
  service = await createNotificationTestService();
});
afterAll(() => service.close());
beforeEach(() => service.ahead(3600_000));

const put = (channels: unknown, owner = "site") =>
  service.json<NotificationEvents & { errors: FieldErrors }>(
    "PUT",
    `/api/${owner}/1/notification-events`,
    { channels },
  );

describe.each(["site", "server"])("the events of a %s's channels", (owner) => {
  const path = `/api/${owner}/1/notification-events`;
  const show = async () => (await service.json<NotificationEvents>("GET", path)).body.channels;
  const choose = (channels: number[]) =>
    service.json("PUT", `/api/${owner}/1/notifications`, { channels });

  test("are all by default, and replaced as a whole", async () => {
    await choose([1, 2]);
    expect(await show()).toEqual([
      { id: 1, events: "all" },
      { id: 2, events: "all" },
    ]);
    const { status, body } = await put(
      [
        { id: 2, events: ["worker.failed", "backup.failed", "worker.failed"] },
        { id: 1, events: "problems" },
      ],
      owner,
    );
    expect(status).toBe(200);
    expect(body.channels).toEqual([
      { id: 1, events: "problems" },
      { id: 2, events: ["backup.failed", "worker.failed"] },
    ]);
    expect(await show()).toEqual(body.channels);
    const timeline = await service.json<Activity>("GET", "/api/activity?kind=notification");
    expect(timeline.body.data[0]).toMatchObject({
      action: "events chosen",
      object: { type: owner, id: 1 },
      detail: expect.stringMatching(/^ops: problems\n.*: backup.failed, worker.failed$/),
      actor: { type: "token" },
    });
    expect((await put([{ id: 2, events: "problems" }], owner)).body.channels).toEqual([
      { id: 1, events: "all" },
      { id: 2, events: "problems" },
    ]);
  });

  test("are kept when other channels are selected, and reset for one that is selected again", async () => {
    await choose([1, 2]);
    await put(
      [
        { id: 1, events: "problems" },
        { id: 2, events: "problems" },
      ],
      owner,
    );
    await choose([1]);
    await choose([1, 2]);
    expect(await show()).toEqual([
      { id: 1, events: "problems" },
      { id: 2, events: "all" },
    ]);
  });

  test("are refused as a whole, with each error at its place", async () => {
    await choose([1]);
    await put([], owner);
    const { status, body } = await put(
      [
        { id: 1, events: "problems" },
        { id: 99, events: "all" },
        // A channel of the inventory that this site does not use.
        { id: 2, events: "all" },
        { id: 1, events: "all" },
      ],
      owner,
    );
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(["channels.1.id", "channels.2.id", "channels.3.id"]);
    for (const events of ["gossip", [], ["gossip"], ["webhook.ping"], null]) {
      const answer = await put([{ id: 1, events }], owner);
      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.errors)[0]).toMatch(/^channels\.0\.events/);
    }
    expect((await put(undefined, owner)).body.errors).toHaveProperty("channels");
    expect(await show()).toEqual([{ id: 1, events: "all" }]);
  });
});

test("a channel gets the messages that were selected for it, and one with all events gets each", async () => {
  await service.choose([1, 2]);
  await put([{ id: 1, events: "problems" }]);
  const [slack, discord] = [service.slack.accepted.length, service.discord.accepted.length];
  await service.deploy({ commit: "aaaaaaa" });
  await soon(() => expect(service.discord.accepted).toHaveLength(discord + 1));
  await service.ahead(3600_000);
  await service.deploy({ status: "failed", commit: "bbbbbbb" });
  await soon(() => expect(service.discord.accepted).toHaveLength(discord + 2));
  await soon(() => expect(service.slack.accepted).toHaveLength(slack + 1));
  expect(JSON.stringify(service.slack.accepted.at(-1))).toContain("bbbbbbb");
});

test("problems include all failures, and the events that end one", () => {
  const isProblem = (type: string) => problemEvents.some((problem) => problem === type);
  const ends = new Set([
    "webhook.enabled",
    "worker.recovered",
    "worker.stable",
    "server.recovered",
  ]);
  for (const type of eventTypes)
    expect(isProblem(type), type).toBe(outcomeOf[type] === "bad" || ends.has(type));
});
