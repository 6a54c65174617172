// Where a session is kept, and how a first-start link carries one. Free of React: index.html reads it before that comes.

export type Session = {
  /** Base address of the service without a trailing slash; empty = where the dashboard came from. */
  address: string;
  token: string;
};

export type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export const sessionKey = "quarterdeck.session";

/** Storage may be forbidden by the browser, which gives null; what was to be kept then lasts as long as the page. */
export function attempt<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch {
    return null;
  }
}

export function readSession(shelf: Shelf | null): Session | null {
  return attempt(() => {
    const stored: unknown = JSON.parse(shelf?.getItem(sessionKey) ?? "null");
    if (typeof stored !== "object" || stored === null) return null;
    if (!("token" in stored) || typeof stored.token !== "string") return null;
    const address = "address" in stored && typeof stored.address === "string" ? stored.address : "";
    return { address, token: stored.token };
  });
}

/** The token of a first-start link, `#token=…`; null when the fragment holds none. */
export function readFragmentToken(hash: string): string | null {
  const token = new URLSearchParams(hash.replace(/^#/, "")).get("token")?.trim();
  return token === undefined || token === "" ? null : token;
}

export const shelf = (name: "sessionStorage" | "localStorage"): Shelf | null =>
  attempt(() => globalThis[name]);

/** The session that the dashboard will begin with; a link with another token opens one of its own. */
export function keptSession(
  hash: string,
  tab: Shelf | null = shelf("sessionStorage"),
  device: Shelf | null = shelf("localStorage"),
): Session | null {
  const kept = readSession(tab) ?? readSession(device);
  const token = readFragmentToken(hash);
  return token === null || token === kept?.token ? kept : { address: "", token };
}
