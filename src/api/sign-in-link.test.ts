import { describe, expect, test } from "vitest";
import { createStore } from "../store.ts";
import type { Session, SignInLink } from "./kept-session.ts";
import { createSessions } from "./session.ts";
import { memoryStorage } from "./testing/memory-storage.ts";
import { createSignInLinks, type LinkState } from "./sign-in-link.ts";

const own: Session = { address: "", token: "mine" };
const code: SignInLink = { kind: "code", secret: "c0de" };
const token = (secret: string): SignInLink => ({ kind: "token", secret });

/** Opens a page with a fake service that accepts these tokens, and the code once. */
function open({
  session = null,
  elsewhere = null,
  isAway = false,
}: { session?: Session | null; elsewhere?: Session | null; isAway?: boolean } = {}) {
  const names: Record<string, string> = { mine: "my laptop", other: "ops", fresh: "First sign-in" };
  const sessions = createSessions(memoryStorage(), memoryStorage());
  if (session !== null) sessions.connect(session, { remember: true });
  const state = createStore<LinkState>({ kind: "none" });
  const sent: string[] = [];
  let switched = 0;
  let isUsed = false;
  const links = createSignInLinks({
    sessions,
    state,
    unansweredText: "Nobody answers.",
    async check({ token: asked }) {
      if (isAway) return { kind: "unanswered" };
      const name = names[asked];
      return name === undefined ? { kind: "refused" } : { kind: "accepted", name };
    },
    async exchange(secret) {
      sent.push(secret);
      if (isAway) return { reason: "away" };
      if (secret !== code.secret) return { reason: "unknown" };
      if (isUsed) return { reason: "used" };
      isUsed = true;
      return { token: "fresh" };
    },
    firstPage: () => Promise.resolve(),
    async askTabs() {
      if (elsewhere !== null) sessions.adopt(elsewhere);
    },
    onSwitched: () => void (switched += 1),
  });
  const question = () => {
    const now = state.get();
    if (now.kind !== "question") throw new Error(`No question but ${now.kind}.`);
    return now;
  };
  return { links, sessions, state, sent, question, switches: () => switched };
}

describe("without a session", () => {
  test("exchanges a code, and keeps the token for the tab", async () => {
    const { links, sessions, state } = open();
    await links.open(code);
    expect(sessions.current()).toEqual({ address: "", token: "fresh" });
    expect(sessions.state.get()).toMatchObject({ isRemembered: false, fromLink: "code" });
    expect(state.get()).toEqual({ kind: "none" });
  });

  test("reports why a code is invalid, and signs nobody in", async () => {
    const { links, sessions, state } = open();
    await links.open({ kind: "code", secret: "nonsense" });
    expect(sessions.current()).toBeNull();
    expect(state.get()).toEqual({ kind: "failed", reason: "unknown" });
  });

  test("uses a token at once, and removes it when the service refuses it", async () => {
    const { links, sessions, state } = open();
    const opened = links.open(token("nonsense"));
    expect(sessions.current()).toEqual({ address: "", token: "nonsense" });
    await opened;
    expect(sessions.current()).toBeNull();
    expect(state.get()).toMatchObject({
      reason: expect.stringContaining("unknown, expired or revoked"),
    });
  });

  test("keeps a token while the service is not responding", async () => {
    const { links, sessions, state } = open({ isAway: true });
    await links.open(token("other"));
    expect(sessions.current()).toEqual({ address: "", token: "other" });
    expect(state.get()).toEqual({ kind: "none" });
  });
});

describe("with a valid session", () => {
  test.each([token("nonsense"), { kind: "code", secret: "nonsense" } as const])(
    "reports an invalid %o without changing anything",
    async (link) => {
      const { links, sessions, state, question, switches } = open({ session: own });
      await links.open(link);
      if (link.kind === "code") await question().accept();
      expect(state.get().kind).toBe("failed");
      expect(sessions.state.get()).toMatchObject({ session: own, isRemembered: true });
      expect(switches()).toBe(0);
    },
  );

  test("asks about another token with both names, and uses it only after a yes", async () => {
    const { links, sessions, question, switches } = open({ session: own });
    await links.open(token("other"));
    expect(question()).toMatchObject({ current: "my laptop", other: "ops", isNew: false });
    expect(sessions.current()).toEqual(own);
    await question().accept();
    expect(sessions.current()).toEqual({ address: "", token: "other" });
    expect(switches()).toBe(1);
  });

  test("never sends a declined code", async () => {
    const { links, sessions, state, sent, question } = open({ session: own });
    await links.open(code);
    expect(question()).toMatchObject({ current: "my laptop", isNew: true });
    question().decline();
    expect(state.get()).toEqual({ kind: "none" });
    expect(sent).toEqual([]);
    expect(sessions.current()).toEqual(own);
  });

  test("exchanges an accepted code then", async () => {
    const { links, sessions, question } = open({ session: own });
    await links.open(code);
    await question().accept();
    expect(sessions.current()).toEqual({ address: "", token: "fresh" });
  });

  test("its own token changes nothing, and asks nothing", async () => {
    const { links, sessions, state } = open({ session: own });
    await links.open(token("mine"));
    expect(state.get()).toEqual({ kind: "none" });
    expect(sessions.state.get()).toMatchObject({ session: own, isRemembered: true });
  });

  test("treats the same token at another service as another one", async () => {
    const elsewhere = { address: "https://ops.example.com", token: "mine" };
    const { links, sessions, question } = open({ session: elsewhere });
    await links.open(token("mine"));
    expect(question().isNew).toBe(false);
    expect(sessions.current()).toEqual(elsewhere);
  });

  test("loses nothing while the service is not responding", async () => {
    const { links, sessions, state } = open({ session: own, isAway: true });
    await links.open(token("other"));
    expect(state.get()).toMatchObject({ kind: "failed" });
    expect(sessions.current()).toEqual(own);
  });
});

test("an invalid token leads to the session of another tab, and is still reported", async () => {
  const { links, sessions, state } = open({ elsewhere: own });
  await links.open(token("nonsense"));
  expect(sessions.current()).toEqual(own);
  expect(state.get().kind).toBe("failed");
});

test.each([token("other"), code])("a refused session is replaced by %o", async (link) => {
  const { links, sessions, state } = open({ session: { address: "", token: "revoked" } });
  await links.open(link);
  expect(sessions.current()?.token).toBe(link.kind === "code" ? "fresh" : "other");
  expect(state.get()).toEqual({ kind: "none" });
});
