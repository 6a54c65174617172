// Where a session is kept, and how a link carries a way into one. Free of React: index.html reads it before that comes.

export type Session = {
  /** Base address of the service without a trailing slash; empty = where the dashboard came from. */
  address: string;
  token: string;
};

export type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export const sessionKey = "quarterdeck.session";
/** What was read in the session, kept in its tab. */
export const cacheKey = "quarterdeck.cache";

/** Storage may be forbidden by the browser, which gives null; what was to be kept then lasts as long as the page. */
export function attempt<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch {
    return null;
  }
}

export function readSession(storage: BrowserStorage | null): Session | null {
  return attempt(() => {
    const stored: unknown = JSON.parse(storage?.getItem(sessionKey) ?? "null");
    if (typeof stored !== "object" || stored === null) return null;
    if (!("token" in stored) || typeof stored.token !== "string") return null;
    const address = "address" in stored && typeof stored.address === "string" ? stored.address : "";
    return { address, token: stored.token };
  });
}

/** What a link brings: a code that is exchanged for a token once, as the first start prints it, or a token itself. */
export type SignInLink = { kind: "code" | "token"; secret: string };

/** Reads `#code=…` or `#token=…`; null when the fragment holds neither. */
export function readLink(hash: string): SignInLink | null {
  const fragment = new URLSearchParams(hash.replace(/^#/, ""));
  for (const kind of ["code", "token"] as const) {
    const secret = fragment.get(kind)?.trim();
    if (secret !== undefined && secret !== "") return { kind, secret };
  }
  return null;
}

declare global {
  /** The link that the early script took; by then it stands in no address. */
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var signInLink: SignInLink | null | undefined;
}

/** Takes the link's secret out of the address, before anything else can read or record it. */
export function takeLink(): SignInLink | null {
  const link = readLink(location.hash);
  if (link !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return link;
}

export const browserStorage = (name: "sessionStorage" | "localStorage"): BrowserStorage | null =>
  attempt(() => globalThis[name]);

/** The session that the dashboard begins with. A link never replaces one that is there: that is asked first. */
export function firstSession(
  link: SignInLink | null,
  tab: BrowserStorage | null = browserStorage("sessionStorage"),
  device: BrowserStorage | null = browserStorage("localStorage"),
): Session | null {
  const kept = readSession(tab) ?? readSession(device);
  return kept ?? (link?.kind === "token" ? { address: "", token: link.secret } : null);
}
