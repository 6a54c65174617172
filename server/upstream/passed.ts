// What of a request passes on to the other service: the interface's methods, paths of its form, and no header that
// would make the other service believe what a client only says.

/** `HEAD` goes with `GET`. `TRACE` would show a token to whoever can make a browser send it. */
export const passedMethods = ["GET", "HEAD", "POST", "PUT", "DELETE"] as const;

export const isPassedMethod = (method: string): boolean =>
  passedMethods.some((passed) => passed === method);

/**
 * Plain words and numbers, as in every path of the interface. Nothing encoded, no dots and no `;`: services disagree
 * about what `..%2f`, `%5c` and `..;/` mean, and the other one might leave the interface by them.
 */
const apiPath = /^\/api(?:\/[A-Za-z0-9_-]+)+$/;

export const isPassedPath = (path: string): boolean =>
  apiPath.test(path) || path === "/openapi.json" || path === "/readyz";

const notPassed = new Set([
  // The token of the interface travels by itself, so no cookie of this host is any business of another one.
  "cookie",
  // `fetch` puts its own there.
  "host",
  // Node has answered it before the request got here, and `fetch` refuses it.
  "expect",
  // To the other service this is no request across origins, and some refuse origins that they do not know.
  "origin",
  // Only what stands between a client and a service may say who the client is. Here that is this service alone.
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
  // These name another path or method than the one that was looked at here.
  "x-original-url",
  "x-rewrite-url",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
]);

/** Many a server reads `X_Real_IP` as `X-Real-IP`. */
export function isPassedHeader(name: string): boolean {
  const plain = name.toLowerCase().replaceAll("_", "-");
  return !notPassed.has(plain) && !plain.startsWith("x-forwarded");
}
