import { expect, test, vi } from "vitest";
import { createSharing, type TabMessage } from "./sharing.ts";

/** Creates two tabs that receive each other's messages at once, and records what each received. */
function twoTabs() {
  let now = 1000;
  const taken: unknown[][] = [[], []];
  const tabs = [0, 1].map((index) =>
    createSharing({
      post: (message: TabMessage) => tabs[1 - index]?.receive(message),
      take: (_key, data) => taken[index]?.push(data),
      nowMs: () => now,
    }),
  );
  const [one, other] = tabs;
  if (one === undefined || other === undefined) throw new Error("There are two.");
  return { one, other, taken, pass: (ms: number) => (now += ms) };
}

/** Fakes a service that responds when the test says so. */
function slowly<Data>(data: Data) {
  const { promise, resolve, reject } = Promise.withResolvers<Data>();
  return {
    fetch: vi.fn<() => Promise<Data>>(() => promise),
    answer: () => resolve(data),
    fail: () => reject(new Error("away")),
  };
}

test("shares a response with the other tab", async () => {
  const { one, taken } = twoTabs();
  expect(await one.ask("list", async () => 7)).toBe(7);
  expect(taken).toEqual([[], [7]]);
});

test("a tab waits for the pending request of another one", async () => {
  const { one, other } = twoTabs();
  const service = slowly("answer");
  const asked = one.ask("list", service.fetch);
  const second = vi.fn<() => Promise<string>>(async () => "mine");
  const waited = other.ask("list", second);
  service.answer();
  expect(await Promise.all([asked, waited])).toEqual(["answer", "answer"]);
  expect(second).not.toHaveBeenCalled();
});

test("a tab requests itself when the other one fails, or is closed", async () => {
  const { one, other, pass } = twoTabs();
  const service = slowly("never");
  const asked = one.ask("list", service.fetch);
  const waited = other.ask("list", async () => "mine");
  service.fail();
  await expect(asked).rejects.toThrow("away");
  expect(await waited).toBe("mine");

  void one.ask("page", () => new Promise<string>(() => undefined));
  pass(4000);
  expect(await other.ask("page", async () => "mine")).toBe("mine");
});

test("a request from before a change does not count as the state after it", async () => {
  const { one, other, taken, pass } = twoTabs();
  const service = slowly("old");
  const asked = one.ask("list", service.fetch);
  pass(1);
  other.changed();
  expect(await other.ask("list", async () => "new")).toBe("new");
  service.answer();
  await asked;
  expect(taken[1]).toEqual([]);
});
