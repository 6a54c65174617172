import type { Session } from "./kept-session.ts";

/** Headers of every request, as the interface requires: `content-type` even without a body. */
export const requestHeaders = ({ token }: Session) => ({
  accept: "application/json",
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
});
