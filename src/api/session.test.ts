import { expect, test } from "vitest";
import { firstSession, readLink } from "./kept-session.ts";
import { createSessions, readAddress } from "./session.ts";
import { memoryStorage } from "./testing/memory-storage.ts";

const ops = { address: "https://ops.example.com", token: "1|qd_secret" };

test("a session lasts for the tab, and only for the tab", () => {
  const [tab, device] = [memoryStorage(), memoryStorage()];
  createSessions(tab, device).connect(ops, { remember: false });
  expect(createSessions(tab, device).current()).toEqual(ops);
  expect(createSessions(memoryStorage(), device).current()).toBeNull();
});

test("a remembered session exists in the next tab", () => {
  const [tab, device] = [memoryStorage(), memoryStorage()];
  createSessions(tab, device).connect(ops, { remember: true });
  const next = createSessions(memoryStorage(), device);
  expect(next.current()).toEqual(ops);
  expect(next.state.get().isRemembered).toBe(true);
});

test("asks once whether to remember the session of a link", () => {
  const [tab, device] = [memoryStorage(), memoryStorage()];
  const sessions = createSessions(tab, device);
  sessions.connect(ops, { remember: false, fromLink: "code" });
  expect(sessions.state.get()).toMatchObject({ fromLink: "code", isRemembered: false });
  sessions.remember();
  expect(sessions.state.get()).toMatchObject({ fromLink: null, isRemembered: true });
  expect([tab.items.size, device.items.size]).toEqual([0, 1]);
});

test("forgets a refused token everywhere, and offers its address again", () => {
  const [tab, device] = [memoryStorage(), memoryStorage()];
  const sessions = createSessions(tab, device);
  sessions.connect(ops, { remember: true });
  sessions.end(ops.token);
  expect(sessions.state.get()).toMatchObject({ session: null, address: ops.address });
  expect([tab.items.size, device.items.size]).toEqual([0, 0]);
});

test("a late response to an old token does not end the new session", () => {
  const sessions = createSessions(memoryStorage(), memoryStorage());
  sessions.connect(ops, { remember: false });
  sessions.end("an older token");
  expect(sessions.current()).toEqual(ops);
});

test("connects in a browser that forbids storage, without claiming to remember", () => {
  const forbidden = () => {
    throw new DOMException("denied", "SecurityError");
  };
  const storage = { getItem: forbidden, setItem: forbidden, removeItem: forbidden };
  const sessions = createSessions(storage, storage);
  expect(sessions.current()).toBeNull();
  sessions.connect(ops, { remember: true });
  expect(sessions.current()).toEqual(ops);
  expect(sessions.state.get().isRemembered).toBe(false);
});

test.each(["not json", "[]", '{"address":"x"}', '{"token":7}'])(
  "ignores a stored value that is not a session: %s",
  (text) => {
    const tab = memoryStorage();
    tab.items.set("quarterdeck.session", text);
    expect(createSessions(tab, memoryStorage()).current()).toBeNull();
  },
);

test.each([
  ["", ""],
  ["  ", ""],
  ["https://ops.example.com/", "https://ops.example.com"],
  ["ops.example.com", "https://ops.example.com"],
  ["http://10.0.0.5:4000/deck/?x=1#y", "http://10.0.0.5:4000/deck"],
  ["http://localhost:4000/", ""],
  ["ftp://ops.example.com", null],
  ["https://user:pass@ops.example.com", null],
  ["http://", null],
])("normalizes an entered address: %s", (typed, expected) => {
  expect(readAddress(typed, "http://localhost:4000")).toBe(expected);
});

test.each([
  ["#code=aBc123", { kind: "code", secret: "aBc123" }],
  ["#token=1|qd_abc", { kind: "token", secret: "1|qd_abc" }],
  ["#token=1%7Cqd_abc", { kind: "token", secret: "1|qd_abc" }],
  ["#token=", null],
  ["#code=%20", null],
  ["#elsewhere", null],
  ["", null],
])("reads a sign-in link: %s", (hash, expected) => {
  expect(readLink(hash)).toEqual(expected);
});

test("starts with the tab's session, then the device's, and uses a link's token only without one", () => {
  const [tab, device] = [memoryStorage(), memoryStorage()];
  const stored = { address: "https://ops.example.com", token: "one" };
  const link = { kind: "token", secret: "two" } as const;
  expect(firstSession(null, tab, device)).toBeNull();
  expect(firstSession(link, tab, device)).toEqual({ address: "", token: "two" });
  expect(firstSession({ kind: "code", secret: "x" }, tab, device)).toBeNull();
  device.setItem("quarterdeck.session", JSON.stringify(stored));
  expect(firstSession(null, tab, device)).toEqual(stored);
  expect(firstSession(link, tab, device)).toEqual(stored);
  tab.setItem("quarterdeck.session", "not json");
  expect(firstSession(null, tab, device)).toEqual(stored);
});
