import type { Session } from "./kept-session.ts";

/** What every request to a service carries, as the interface has it: the last one too, whether or not there is a body. */
export const requestHeaders = ({ token }: Session) => ({
  accept: "application/json",
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
});
