// What a sign-in link does. A bad one never ends a good session, a good one never replaces another session unasked, and a code
// is not exchanged before it is wanted.
import type { Store } from "../store.ts";
import type { Session, SignInLink } from "./kept-session.ts";
import type { Sessions } from "./session.ts";

/** What the service says of a session's token; its name is null where the service has none. */
export type Check = { kind: "accepted"; name: string | null } | { kind: "refused" | "unanswered" };

export type LinkState =
  | { kind: "none" }
  | { kind: "failed"; reason: string }
  | {
      kind: "question";
      /** Whose session it is; null = unknown. */
      current: string | null;
      /** Whose it would be; null = unknown, or a token that is still to be made. */
      other: string | null;
      /** The link holds a code, which is exchanged for a new token. */
      isNew: boolean;
      /** Settles once the page has what it needs, be it another session or a reason. */
      accept: () => Promise<void>;
      decline: () => void;
    };

export type SignInLinkOptions = {
  sessions: Sessions;
  state: Store<LinkState>;
  /** Said where the service does not answer. */
  unansweredText: string;
  check(session: Session): Promise<Check>;
  /** Exchanges a code. */
  exchange(code: string): Promise<{ token: string } | { reason: string }>;
  /** Resolves when the first page has what it asked for, or has found out that there is no session. */
  firstPage(): Promise<unknown>;
  /** Asks the other tabs for a session, and takes it. */
  askTabs(): Promise<unknown>;
  /** The session is another one from now on: what the one before was allowed to see is not for it. */
  onSwitched(): void;
};

const refusedText = "The token of the link is unknown, expired or revoked.";

/** A link is of the service that the page came from. */
const sessionOf = (token: string): Session => ({ address: "", token });

export function createSignInLinks(options: SignInLinkOptions) {
  const { sessions, state, unansweredText, check, exchange, firstPage, askTabs, onSwitched } =
    options;
  const fail = (reason: string) => state.set({ kind: "failed", reason });

  function connect(token: string, { kind }: SignInLink): void {
    sessions.connect(sessionOf(token), { remember: false, fromLink: kind });
    state.set({ kind: "none" });
    onSwitched();
  }

  async function exchangeFor(link: SignInLink): Promise<void> {
    const made = await exchange(link.secret);
    if ("token" in made) connect(made.token, link);
    else fail(made.reason);
  }

  /** There is no session that could be lost. */
  async function enter(link: SignInLink): Promise<void> {
    if (link.kind === "code") return exchangeFor(link);
    // The page need not wait for the answer, nor compete with the question.
    connect(link.secret, link);
    await firstPage();
    return verify(link.secret);
  }

  /** Asks about a link's token that was connected with before anybody had looked at it. */
  async function verify(token: string): Promise<void> {
    const { kind } = await check(sessionOf(token));
    if (kind !== "refused") return;
    sessions.end(token);
    fail(refusedText);
    // A session that another tab has is as good as one of this tab.
    await askTabs();
  }

  const dismiss = () => state.set({ kind: "none" });

  /** Opens a link. With no session there, a token's session is there when this returns, a code's when it resolves. */
  async function open(link: SignInLink): Promise<void> {
    const session = sessions.current();
    state.set({ kind: "none" });
    if (session === null) return enter(link);
    const isSame = session.address === "" && session.token === link.secret;
    if (link.kind === "token" && isSame) return;
    const current = await check(session);
    if (current.kind === "refused") {
      sessions.end(session.token);
      return enter(link);
    }
    const currentName = current.kind === "accepted" ? current.name : null;
    // Asked before the code is sent: one that is declined can still be used elsewhere.
    const question = { kind: "question", current: currentName, decline: dismiss } as const;
    if (link.kind === "code")
      return state.set({
        ...question,
        other: null,
        isNew: true,
        accept: () => exchangeFor(link),
      });
    const other = await check(sessionOf(link.secret));
    if (other.kind !== "accepted")
      return fail(other.kind === "refused" ? refusedText : unansweredText);
    state.set({
      ...question,
      other: other.name,
      isNew: false,
      accept: async () => connect(link.secret, link),
    });
  }

  return { open, verify };
}
