// Lifts the time limits of `fetch`, which gives up when a response does not begin, or does not go on, for 300 s. Node has no option for
// them, so they are set in what `fetch` passes to undici, its HTTP client. A client of the package `undici` would be a second copy of
// it, and Node's `fetch` takes only one of about the same version.

/** The part of undici's `Dispatcher` that `fetch` uses. */
type Dispatcher = { dispatch(options: object, handler: unknown): unknown };

const isDispatcher = (value: unknown): value is Dispatcher =>
  typeof value === "object" &&
  value !== null &&
  "dispatch" in value &&
  typeof value.dispatch === "function";

/** Where undici keeps the dispatcher of all requests: version 8, and earlier ones. https://github.com/nodejs/undici/blob/main/lib/global.js */
const keys = ["undici.globalDispatcher.2", "undici.globalDispatcher.1"].map((key) =>
  Symbol.for(key),
);

/** @returns what sends the requests of `fetch`; null = unknown, as in a version of Node that stores it elsewhere */
export function currentDispatcher(): { key: symbol; dispatcher: Dispatcher } | null {
  for (const key of keys) {
    const dispatcher: unknown = Reflect.get(globalThis, key);
    if (isDispatcher(dispatcher)) return { key, dispatcher };
  }
  return null;
}

/** Sends a request like `fetch`, and waits for the response and each part of it for as long as the connection lasts. */
export function fetchWithoutTimeLimit(request: Request): Promise<Response> {
  const current = currentDispatcher()?.dispatcher;
  if (current === undefined) return fetch(request);
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) =>
      current.dispatch({ ...options, bodyTimeout: 0, headersTimeout: 0 }, handler),
  };
  const init: RequestInit & { dispatcher: Dispatcher } = { dispatcher };
  return fetch(request, init);
}
