// Which methods, paths and headers of a request are forwarded to the upstream: those of the interface, without headers by which
// a client could spoof its address, host or path.

/** `TRACE` is left out because its response echoes the token. */
export const passedMethods = ["GET", "HEAD", "POST", "PUT", "DELETE"] as const;

export const isPassedMethod = (method: string): boolean =>
  passedMethods.some((passed) => passed === method);

/**
 * Plain words and numbers, as in every path of the interface. Nothing encoded, no dots and no `;`: services disagree
 * about the meaning of `..%2f`, `%5c` and `..;/`, so the upstream might resolve them to paths outside the interface.
 */
const apiPath = /^\/api(?:\/[A-Za-z0-9_-]+)+$/;

export const isPassedPath = (path: string): boolean =>
  apiPath.test(path) || path === "/openapi.json" || path === "/readyz";

const notPassed = new Set([
  // The token is sent in its own header, so cookies of this host are not disclosed to the upstream.
  "cookie",
  // `fetch` sets it.
  "host",
  // Node has already answered it, and `fetch` rejects it.
  "expect",
  // For the upstream this is not a cross-origin request, and some services reject unknown origins.
  "origin",
  // Only a proxy may state the client's address. Here this service is the proxy and sets its own headers.
  "forwarded",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-original-forwarded-for",
  "x-remote-ip",
  "x-remote-addr",
  "x-host",
  "x-original-host",
  "client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "fastly-client-ip",
  // These override the path or method that was checked here.
  "x-original-url",
  "x-rewrite-url",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
]);

/** Treats `_` like `-`, because many servers read `X_Real_IP` as `X-Real-IP`. */
export function isPassedHeader(name: string): boolean {
  const plain = name.toLowerCase().replaceAll("_", "-");
  return !notPassed.has(plain) && !plain.startsWith("x-forwarded");
}
