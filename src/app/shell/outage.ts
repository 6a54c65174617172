// Whether the service is reachable, for the whole dashboard: a single check repeats until it is.
import { requestHeaders } from "../../api/request-headers.ts";
import { sessions } from "../../api/session.ts";
import { createStore } from "../../store.ts";

/**
 * Since when the service is unreachable, by this machine's clock; null = it is reachable, or that was not noticed yet.
 */
export const outage = createStore<number | null>(null);

const lookMs = 2_000;
/** For a hidden tab, where the delay is not visible. */
const hiddenLookMs = 20_000;

/** Timeout of the check: a reachable service answers such a small request sooner. */
const patienceMs = 5_000;

/** Any response shows that the service is up, except a gateway's error for a service that is down. */
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

/** Checks now, because there was a sign that the service is back. */
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

/** Called after a failed request. Resolves once the service is reachable, with whether it was unreachable. */
export const whenReachable = (): Promise<boolean> =>
  (looking ??= look().finally(() => {
    looking = null;
  }));

/** Whether the browser could not load a module of the dashboard. */
export const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported|module script|preload CSS/i.test(error.message);
