// Rules of sign-in links: an invalid one never ends a valid session, a valid one never replaces another session without
// a question, and a code is not exchanged before the user accepts.
import type { Store } from "../store.ts";
import type { Session, SignInLink } from "./kept-session.ts";
import type { Sessions } from "./session.ts";

/** The service's judgement of a session's token; the name is null where the service has none. */
export type Check = { kind: "accepted"; name: string | null } | { kind: "refused" | "unanswered" };

export type LinkState =
  | { kind: "none" }
  | { kind: "failed"; reason: string }
  | {
      kind: "question";
      /** Name of the present token; null = unknown. */
      current: string | null;
      /** Name of the link's token; null = unknown, or not created yet. */
      other: string | null;
      /** Whether the link holds a code, which is exchanged for a new token. */
      isNew: boolean;
      /** Resolves once the page has loaded, either with the new session or with a reason. */
      accept: () => Promise<void>;
      decline: () => void;
    };

export type SignInLinkOptions = {
  sessions: Sessions;
  state: Store<LinkState>;
  /** Shown where the service does not respond. */
  unansweredText: string;
  check(session: Session): Promise<Check>;
  /** Exchanges a code. */
  exchange(code: string): Promise<{ token: string } | { reason: string }>;
  /** Resolves when the first page has its data, or has found that there is no session. */
  firstPage(): Promise<unknown>;
  /** Requests a session from the other tabs, and uses it. */
  askTabs(): Promise<unknown>;
  /** Called after the session was replaced: data of the previous one must not be shown. */
  onSwitched(): void;
};

const refusedText = "The token of the link is unknown, expired or revoked.";

/** A link belongs to the service that served the page. */
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

  /** Signs in where no session exists that could be lost. */
  async function enter(link: SignInLink): Promise<void> {
    if (link.kind === "code") return exchangeFor(link);
    // The page does not wait for the check, and the check does not compete with the page.
    connect(link.secret, link);
    await firstPage();
    return verify(link.secret);
  }

  /** Checks the token of a link that was used before it was checked. */
  async function verify(token: string): Promise<void> {
    const { kind } = await check(sessionOf(token));
    if (kind !== "refused") return;
    sessions.end(token);
    fail(refusedText);
    // Another tab may have a session.
    await askTabs();
  }

  const dismiss = () => state.set({ kind: "none" });

  /** Opens a link. Without a session, a token's session exists when this returns, and a code's when it resolves. */
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
    // The user is asked before the code is sent: a code that is declined can still be used elsewhere.
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
