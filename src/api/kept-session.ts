// Where a session is stored, and how a link signs in. Without React, because index.html runs it before React is loaded.

export type Session = {
  /** Base address of the service without a trailing slash; empty = the dashboard's own origin. */
  address: string;
  token: string;
};

export type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export const sessionKey = "quarterdeck.session";
/** Key of the cached responses of the session, stored in its tab. */
export const cacheKey = "quarterdeck.cache";

/** Runs `run`, and returns null where the browser forbids storage. The data then lasts as long as the page. */
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

/**
 * A sign-in link contains a code that is exchanged for a token once, as the first start prints it, or a token itself.
 */
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
  /** The link that the early script has read and removed from the address. */
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var signInLink: SignInLink | null | undefined;
}

/** Removes the link's secret from the address before anything else can read or record it. */
export function takeLink(): SignInLink | null {
  const link = readLink(location.hash);
  if (link !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return link;
}

export const browserStorage = (name: "sessionStorage" | "localStorage"): BrowserStorage | null =>
  attempt(() => globalThis[name]);

/** Returns the session that the dashboard begins with. A link never replaces an existing session without a question. */
export function firstSession(
  link: SignInLink | null,
  tab: BrowserStorage | null = browserStorage("sessionStorage"),
  device: BrowserStorage | null = browserStorage("localStorage"),
): Session | null {
  const kept = readSession(tab) ?? readSession(device);
  return kept ?? (link?.kind === "token" ? { address: "", token: link.secret } : null);
}
