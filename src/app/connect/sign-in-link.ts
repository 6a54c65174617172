// Connects the rules of sign-in links with the service, and with what the pages show.
import { ApiError, hasStatus, isMissing } from "../../api/api-error.ts";
import { callAs } from "../../api/client.ts";
import type { Session } from "../../api/kept-session.ts";
import { sessions } from "../../api/session.ts";
import { type Check, createSignInLinks, type SignInLinkOptions } from "../../api/sign-in-link.ts";
import { nextChange } from "../../store.ts";
import { idle } from "../idle.ts";
import { linkState, unansweredText } from "./link-state.ts";

async function check(session: Session): Promise<Check> {
  try {
    const { name } = await callAs(session, "showCurrentToken", {});
    return { kind: "accepted", name };
  } catch (error) {
    if (!isMissing(error)) return checkOf(error);
  }
  try {
    // A service that lacks the operation still checks the token of any other request.
    await callAs(session, "showWorker", { id: 1 });
    return { kind: "accepted", name: null };
  } catch (error) {
    return checkOf(error);
  }
}

function checkOf(error: unknown): Check {
  if (hasStatus(error, 401)) return { kind: "refused" };
  const status = error instanceof ApiError ? error.status : "unreachable";
  // Any other refusal came after the service had checked the token.
  return typeof status === "number" && status < 500 && status !== 429
    ? { kind: "accepted", name: null }
    : { kind: "unanswered" };
}

const exchange: SignInLinkOptions["exchange"] = async (code) => {
  try {
    return await callAs({ address: "", token: "" }, "signIn", {}, { body: { code } });
  } catch (error) {
    if (hasStatus(error, "unreachable")) return { reason: unansweredText };
    if (isMissing(error)) return { reason: "This service doesn't support sign-in codes." };
    if (!(error instanceof ApiError)) return { reason: "Something went wrong in the dashboard." };
    return { reason: error.fields["code"]?.[0] ?? error.message };
  }
};

/** @param onSwitched see `createSignInLinks` */
export const createLinks = (onSwitched: () => void) =>
  createSignInLinks({
    sessions,
    state: linkState,
    unansweredText,
    check,
    exchange,
    firstPage: () => Promise.race([idle(), nextChange(sessions.state)]),
    // Loaded on demand: invalid links are rare.
    async askTabs() {
      const { askSessionTabs, joinSessionTabs } = await import("./session-tabs.ts");
      joinSessionTabs(onSwitched);
      return askSessionTabs();
    },
    onSwitched,
  });
