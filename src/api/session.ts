// The service and token of this tab. The token is stored for the tab's session, or on this device when the user chooses
// that; it never appears in a URL.
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

/** `refused`: the service gave no reason; `elsewhere`: the user disconnected in another tab. */
export type SessionEnd = TokenCode | "refused" | "elsewhere";

type SessionState = {
  /** Null before connecting, and after the service has refused the token. */
  session: Session | null;
  isRemembered: boolean;
  /**
   * The kind of link that it came from, so that the user was not asked yet whether to remember it; null = no link, or
   * the offer was dismissed.
   */
  fromLink: SignInLink["kind"] | null;
  /** The last address used, offered again on the connect page. */
  address: string;
  /** Why the last session ended without the user; null where the user ended it here. */
  ended: SessionEnd | null;
};

/** Converts "ops.example.com/" and the like to a base address; null where it is not an HTTP address. */
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
      // The browser may have refused to store it.
      const isRemembered = readSession(device)?.token === session.token;
      state.set({ session, isRemembered, fromLink, address: session.address, ended: null });
    },

    /** Uses the session of another tab. What that tab has stored on this device remains. */
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

    /** Removes the session from this device; it then lasts until the tab is closed. */
    keepInTab() {
      const { session } = state.get();
      if (session !== null) this.connect(session, { remember: false });
    },

    /** Dismisses the offer to remember the session. */
    dismissOffer() {
      state.set({ ...state.get(), fromLink: null });
    },

    /**
     * Ends the session.
     * @param token ends it only while this token is current, so that a late response to an old token cannot end a new
     * session
     * @param reason why, unless the user requested it here
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
