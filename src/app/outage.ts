// Whether the service can be reached, as the whole dashboard sees it: one question says so for all, and asks until it can.
import { requestHeaders } from "../api/request-headers.ts";
import { sessions } from "../api/session.ts";
import { createStore } from "../store.ts";

/** Since when the service is away, by this machine's clock; null = it is there, or nobody has noticed yet. */
export const outage = createStore<number | null>(null);

const lookMs = 2_000;
/** Nobody sees how long it takes. */
const hiddenLookMs = 20_000;

/** An answer to so small a question takes no longer from a service that is there. */
const patienceMs = 5_000;

/** Anything that answers is there, whatever it says; a gateway answers in the place of what is away. */
async function isAway(): Promise<boolean> {
  const session = sessions.current() ?? { address: "", token: "" };
  try {
    const { status } = await fetch(`${session.address}/api/token`, {
      headers: requestHeaders(session),
      credentials: "omit",
      cache: "no-store",
      signal: AbortSignal.timeout(patienceMs),
    });
    return status > 501 && status < 505;
  } catch {
    return true;
  }
}

let wake = () => {};

/** Asks now instead of a moment later: there was a sign that the service is back. */
export const lookAgain = (): void => wake();

async function look(): Promise<boolean> {
  const sinceMs = Date.now();
  while (await isAway()) {
    outage.set(outage.get() ?? sinceMs);
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, document.hidden ? hiddenLookMs : lookMs);
    });
  }
  const wasAway = outage.get() !== null;
  outage.set(null);
  return wasAway;
}

let looking: Promise<boolean> | null = null;

/** To be called when something did not come. Resolves once the service can be reached, with whether it was away. */
export const whenReachable = (): Promise<boolean> =>
  (looking ??= look().finally(() => {
    looking = null;
  }));

/** What a browser says where a part of the dashboard does not come. */
export const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported|module script|preload CSS/i.test(error.message);
