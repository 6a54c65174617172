// The state of the sign-in link that the dashboard was opened with.
import type { LinkState } from "../../api/sign-in-link.ts";
import { createStore } from "../../store.ts";

export const linkState = createStore<LinkState>({ kind: "none" });

export const unansweredText =
  "The service is not responding. Open the link again once the service responds.";
