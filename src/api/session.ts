// Which service this tab talks to, and with which token. The token is kept for the tab's session, or on
// this device when the user asks for it; it never enters an address.
import type { TokenCode } from "../../contract/errors.ts";
import { createStore, type Store } from "../store.ts";
import {
  attempt,
  cacheKey,
  readSession,
  type Session,
  sessionKey,
  browserStorage,
  type BrowserStorage,
  type SignInLink,
} from "./kept-session.ts";

/** `refused`: by a service that does not say why; `elsewhere`: the user disconnected in another tab. */
export type SessionEnd = TokenCode | "refused" | "elsewhere";

type SessionState = {
  /** Null until connected, and again once the service refuses the token. */
  session: Session | null;
  isRemembered: boolean;
  /** It came by a link of this kind, so nobody could say yet whether to remember it. */
  fromLink: SignInLink["kind"] | null;
  /** The last address used, to offer again. */
  address: string;
  /** Why the last session ended by itself; null where it did not. */
  ended: SessionEnd | null;
};

/** "ops.example.com/" and the like as a base address; null when it is no http address. */
export function readAddress(text: string, origin: string): string | null {
  const typed = text.trim();
  if (typed === "") return "";
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "") return null;
  const address = (url.origin + url.pathname).replace(/\/+$/, "");
  return address === origin ? "" : address;
}

export function createSessions(tab: BrowserStorage | null, device: BrowserStorage | null) {
  const kept = readSession(device);
  const current = readSession(tab) ?? kept;
  const state: Store<SessionState> = createStore<SessionState>({
    session: current,
    isRemembered: kept !== null && kept.token === current?.token,
    fromLink: null,
    address: current?.address ?? "",
    ended: null,
  });

  const forgetEverywhere = () => {
    for (const storage of [tab, device]) attempt(() => storage?.removeItem(sessionKey));
    attempt(() => tab?.removeItem(cacheKey));
  };

  return {
    state,
    current: () => state.get().session,

    connect(
      session: Session,
      { remember, fromLink = null }: { remember: boolean; fromLink?: SessionState["fromLink"] },
    ) {
      forgetEverywhere();
      attempt(() => (remember ? device : tab)?.setItem(sessionKey, JSON.stringify(session)));
      // The browser may have refused to keep it.
      const isRemembered = readSession(device)?.token === session.token;
      state.set({ session, isRemembered, fromLink, address: session.address, ended: null });
    },

    /** Takes over the session of another tab. Whatever that one keeps on this device stays there. */
    adopt(session: Session) {
      attempt(() => tab?.setItem(sessionKey, JSON.stringify(session)));
      const isRemembered = readSession(device)?.token === session.token;
      state.set({ session, isRemembered, fromLink: null, address: session.address, ended: null });
    },

    /** Moves the tab's session to this device. */
    remember() {
      const { session } = state.get();
      if (session !== null) this.connect(session, { remember: true });
    },

    /** Takes the session off this device; it lasts until the tab is closed. */
    keepInTab() {
      const { session } = state.get();
      if (session !== null) this.connect(session, { remember: false });
    },

    /** Takes the offer to remember away. */
    dismissOffer() {
      state.set({ ...state.get(), fromLink: null });
    },

    /**
     * Ends the session.
     * @param token ends it only while this token is the current one, so that the late answer to an old
     * token cannot end a new session
     * @param reason why, where the user did not ask for it here
     */
    end(token?: string, reason: SessionEnd | null = null) {
      const { session, address } = state.get();
      if (session === null || (token !== undefined && token !== session.token)) return;
      forgetEverywhere();
      state.set({ session: null, isRemembered: false, fromLink: null, address, ended: reason });
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;

export const sessions = createSessions(
  browserStorage("sessionStorage"),
  browserStorage("localStorage"),
);
