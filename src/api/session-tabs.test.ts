import { afterEach, expect, test } from "vitest";
import type { Session, BrowserStorage } from "./kept-session.ts";
import { createSessions } from "./session.ts";
import { createSessionTabs } from "./session-tabs.ts";
import { memoryStorage } from "./testing/memory-storage.ts";

const open = new Set<BroadcastChannel>();
afterEach(() => {
  for (const channel of open) channel.close();
  open.clear();
});

/** Timeout for a tab that another one answers, long enough for a busy machine. */
const patient = { waitMs: 30_000 };

type TabOptions = { device?: BrowserStorage; waitMs?: number };

/** Opens a tab of a browser, whose tabs share a broadcast channel of this name. */
function openTab(
  name: string,
  session: Session | null = null,
  { device = memoryStorage(), ...waiting }: TabOptions = {},
) {
  const sessions = createSessions(memoryStorage(), device);
  if (session !== null) sessions.connect(session, { remember: false });
  const channel = new BroadcastChannel(name);
  open.add(channel);
  const state = { taken: 0, isBusy: false };
  const tabs = createSessionTabs({
    sessions,
    channel: {
      // Drops messages of a closed tab.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target origin
      postMessage: (word: unknown) => open.has(channel) && channel.postMessage(word),
      addEventListener: channel.addEventListener.bind(channel),
    },
    onTaken: () => void (state.taken += 1),
    isBusy: () => state.isBusy,
    ...waiting,
  });
  return { ...tabs, sessions, state };
}

const own: Session = { address: "", token: "mine" };
const foreign: Session = { address: "https://ops.example.com", token: "theirs" };
const expectSoon = <Value>(read: () => Value, wanted: Value) =>
  expect.poll(read, { interval: 5 }).toEqual(wanted);

test("a new tab gets the session of a connected one", async () => {
  openTab("new", own);
  const tab = openTab("new", null, patient);
  expect(await tab.ask()).toBe(true);
  expect(tab.sessions.current()).toEqual(own);
  expect(tab.state.taken).toBe(1);
});

test("a single tab learns within a moment that there is no other", async () => {
  const tab = openTab("lone");
  openTab("lone");
  const begunMs = performance.now();
  expect(await tab.ask()).toBe(false);
  expect(performance.now() - begunMs).toBeLessThan(patient.waitMs);
  expect(tab.sessions.current()).toBeNull();
});

test("a token is passed on with its address, preferably that of the dashboard's own service", async () => {
  openTab("foreign", foreign);
  const only = openTab("foreign", null, patient);
  expect(await only.ask()).toBe(true);
  expect(only.sessions.current()).toEqual(foreign);
  openTab("both", foreign);
  openTab("both", own);
  const tab = openTab("both", null, patient);
  expect(await tab.ask()).toBe(true);
  expect(tab.sessions.current()).toEqual(own);
});

test("a tab that did not ask, or in which a token is being entered, takes no session", async () => {
  const silent = openTab("typed");
  const typing = openTab("typed");
  typing.state.isBusy = true;
  const asking = openTab("typed", null, patient);
  openTab("typed", own);
  const answers = [typing.ask(), asking.ask()];
  expect(await Promise.all(answers)).toEqual([false, true]);
  expect(typing.sessions.current()).toBeNull();
  expect(silent.state.taken).toBe(0);
});

test("disconnecting in one tab disconnects all tabs of that session, and no others", async () => {
  const [one, two, other] = [openTab("end", own), openTab("end", own), openTab("end", foreign)];
  one.sessions.end();
  await expectSoon(() => two.sessions.current(), null);
  expect(two.sessions.state.get().ended).toBe("elsewhere");
  expect(one.sessions.state.get().ended).toBeNull();
  expect(other.sessions.current()).toEqual(foreign);
});

test("a token that is refused in one tab ends the session in all, for the same reason", async () => {
  const [one, two] = [openTab("refused", own), openTab("refused", own)];
  one.sessions.end(own.token, "token_expired");
  await expectSoon(() => two.sessions.state.get().ended, "token_expired");
});

test("tabs that lost their session follow the first one that connects again", async () => {
  const [one, two] = [openTab("again", own), openTab("again", own)];
  one.sessions.end(own.token, "refused");
  await expectSoon(() => two.sessions.current(), null);
  const next = { address: "", token: "next" };
  one.sessions.connect(next, { remember: false });
  await expectSoon(() => two.sessions.current(), next);
});

test("a link that was not verified yet connects no other tab", async () => {
  const [one, two] = [openTab("link"), openTab("link")];
  one.sessions.connect({ address: "", token: "bad" }, { remember: false, fromLink: "token" });
  one.sessions.end("bad");
  expect(await two.ask()).toBe(false);
  expect(two.state.taken).toBe(0);
});

test("the session of another tab does not change the session remembered on the device", async () => {
  const device = memoryStorage();
  const tab = openTab("device", null, { device, ...patient });
  createSessions(memoryStorage(), device).connect(own, { remember: true });
  openTab("device", own);
  expect(await tab.ask()).toBe(true);
  expect(tab.sessions.state.get().isRemembered).toBe(true);
  expect(createSessions(memoryStorage(), device).current()).toEqual(own);
});
