// Which service this tab talks to, and with which token. The token is kept for the tab's session, or on
// this device when the user asks for it; it never enters an address.
import { createStore, type Store } from "../store.ts";

export type Session = {
  /** Base address of the service without a trailing slash; empty = where the dashboard came from. */
  address: string;
  token: string;
};

export type SessionState = {
  /** Null until connected, and again once the service refuses the token. */
  session: Session | null;
  isRemembered: boolean;
  /** It came by the link of a first start, so nobody could say yet whether to remember it. */
  isFromLink: boolean;
  /** The last address used, to offer again. */
  address: string;
};

type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const key = "quarterdeck.session";

/** Storage may be forbidden by the browser; the session then lasts as long as the page. */
function attempt<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch {
    return null;
  }
}

function read(shelf: Shelf | null): Session | null {
  return attempt(() => {
    const stored: unknown = JSON.parse(shelf?.getItem(key) ?? "null");
    if (typeof stored !== "object" || stored === null) return null;
    if (!("token" in stored) || typeof stored.token !== "string") return null;
    const address = "address" in stored && typeof stored.address === "string" ? stored.address : "";
    return { address, token: stored.token };
  });
}

/** "ops.example.com/" and the like as a base address; null when it is no http address. */
export function readAddress(text: string, origin: string): string | null {
  const typed = text.trim();
  if (typed === "") return "";
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "") return null;
  const address = (url.origin + url.pathname).replace(/\/+$/, "");
  return address === origin ? "" : address;
}

/** The token of a first-start link, `#token=…`; null when the fragment holds none. */
export function readFragmentToken(hash: string): string | null {
  const token = new URLSearchParams(hash.replace(/^#/, "")).get("token")?.trim();
  return token === undefined || token === "" ? null : token;
}

export function createSessions(tab: Shelf | null, device: Shelf | null) {
  const kept = read(device);
  const current = read(tab) ?? kept;
  const state: Store<SessionState> = createStore<SessionState>({
    session: current,
    isRemembered: kept !== null && kept.token === current?.token,
    isFromLink: false,
    address: current?.address ?? "",
  });

  const forgetEverywhere = () => {
    for (const shelf of [tab, device]) attempt(() => shelf?.removeItem(key));
  };

  return {
    state,
    current: () => state.get().session,

    connect(
      session: Session,
      { remember, isFromLink = false }: { remember: boolean; isFromLink?: boolean },
    ) {
      forgetEverywhere();
      attempt(() => (remember ? device : tab)?.setItem(key, JSON.stringify(session)));
      state.set({ session, isRemembered: remember, isFromLink, address: session.address });
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
      state.set({ ...state.get(), isFromLink: false });
    },

    /**
     * Ends the session.
     * @param token ends it only while this token is the current one, so that the late answer to an old
     * token cannot end a new session
     */
    end(token?: string) {
      const { session, address } = state.get();
      if (session === null || (token !== undefined && token !== session.token)) return;
      forgetEverywhere();
      state.set({ session: null, isRemembered: false, isFromLink: false, address });
    },
  };
}

const shelf = (name: "sessionStorage" | "localStorage") => attempt(() => globalThis[name]);

export const sessions = createSessions(shelf("sessionStorage"), shelf("localStorage"));
