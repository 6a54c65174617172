import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { readOldest } from "./oldest-data.ts";

test.each<[string, number | false | (() => number), number, number]>([
  ["data that is not polled, after half a minute", false, 29_000, 31_000],
  ["data that is polled often, after half a minute", 10_000, 29_000, 31_000],
  ["data that is polled rarely, once a poll was missed", 30_000, 59_000, 61_000],
  ["the same where the interval is computed", () => 30_000, 59_000, 61_000],
])("counts as old while it is refetched: %s", (_case, refetchInterval, recentMs, oldMs) => {
  const client = new QueryClient();
  const queryKey = ["showOverview"];
  client.setQueryData(queryKey, 1, { updatedAt: 1 });
  const observer = new QueryObserver(client, {
    queryKey,
    queryFn: () => new Promise<number>(() => {}),
    refetchInterval,
  });
  const end = observer.subscribe(() => {});
  const cache = client.getQueryCache();
  expect(cache.find({ queryKey })?.state.fetchStatus).toBe("fetching");
  expect(readOldest(cache, 1 + recentMs)).toBeNull();
  expect(readOldest(cache, 1 + oldMs)).toBe(1);
  end();
  client.clear();
});
