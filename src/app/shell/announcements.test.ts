import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { announceChanges, announcement, settledSince } from "./announcements.ts";

const worker = (status: string) => [{ key: "worker 7", name: "Worker 7", status }];

test("announces once what settles, and neither initial states nor states in transit", () => {
  const known = new Map<string, string>();
  const announced = [
    "installed",
    "stopping",
    "stopping",
    "stopped",
    "stopped",
    "starting",
    "failed",
  ].map((status) => settledSince(known, worker(status)));
  expect(announced).toEqual([[], [], [], ["Worker 7 stopped."], [], [], ["Worker 7 failed."]]);
});

test("tracks the state of each object separately", () => {
  const known = new Map<string, string>();
  // Objects of one name, such as backups of two databases, are common.
  const namesake = (status: string) => [{ key: "worker 8", name: "Worker 7", status }];
  settledSince(known, [...worker("restarting"), ...namesake("installed")]);
  expect(settledSince(known, [...namesake("failed"), ...worker("installed")])).toEqual([
    "Worker 7 failed.",
    "Worker 7 installed.",
  ]);
  expect(settledSince(known, [...worker("installed"), ...namesake("failed")])).toEqual([]);
});

test("knows what a page showed before the subscription, and announces its first change", () => {
  const client = new QueryClient();
  const show = (status: string) =>
    client.setQueryData(["listWorkers", { site: 1 }, {}], {
      data: [{ id: 7, queue: "mail", connection: "redis", status }],
    });
  show("installed");
  const end = announceChanges(client);
  expect(announcement.get().text).toBe("");

  show("stopped");
  expect(announcement.get().text).toBe("mail on redis (worker 7) stopped.");
  end();
});
