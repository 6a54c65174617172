// Notices when the service becomes unreachable, and when it is back or was updated meanwhile.
import type { QueryClient } from "@tanstack/react-query";
import { hasStatus } from "../../api/api-error.ts";
import { createStore } from "../../store.ts";
import { lookAgain, outage, whenReachable } from "./outage.ts";
import { toast } from "../toasts.ts";

const isSign = (error: unknown): boolean =>
  (["unreachable", 502, 503, 504] as const).some((status) => hasStatus(error, status));

/** Whether the service has another build of the dashboard, which the next navigation loads. */
export const isStale = createStore(false);

/** Returns the name of the first script, which changes with each build, but not in development. */
const firstFileIn = (page: ParentNode): string | null =>
  page.querySelector("script[type=module][src]")?.getAttribute("src") ?? null;

async function lookForUpdate(): Promise<void> {
  if (isStale.get()) return;
  const answer = await fetch("/", { cache: "no-cache", headers: { accept: "text/html" } }).catch(
    () => null,
  );
  if (answer?.ok !== true) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [mine, newest] = [firstFileIn(document), firstFileIn(page)];
  if (mine === null || newest === null || mine === newest) return;
  isStale.set(true);
  toast.success("Quarterdeck was updated.", "The next page you open uses the new version.", {
    label: "Reload",
    run: () => location.reload(),
  });
}

const updateEveryMs = 5 * 60_000;

/** Longest wait for a response: no browser aborts a hanging request for minutes. */
const silentMs = 10_000;

/** An event of a query or a mutation. */
type Step = { type: string; error?: unknown; manual?: boolean | undefined };

/** @returns a function that stops watching */
export function watchService(client: QueryClient): () => void {
  let silence: ReturnType<typeof setTimeout> | undefined;
  const hear = ({ type, error, manual }: Step) => {
    if (type === "fetch" || type === "pending")
      silence ??= setTimeout(() => void whenReachable(), silentMs);
    if (type === "success") lookAgain();
    const isFailure = type === "failed" || type === "error";
    if (isFailure && isSign(error)) void whenReachable();
    // A response shows that others may come; changes of the cache by a page show nothing.
    if (!isFailure && (type !== "success" || manual === true)) return;
    clearTimeout(silence);
    silence = undefined;
  };
  const stopQueries = client
    .getQueryCache()
    .subscribe((event) => event.type === "updated" && hear(event.action));
  const stopMutations = client
    .getMutationCache()
    .subscribe((event) => event.type === "updated" && hear(event.action));
  const stopOutage = outage.subscribe(() => {
    if (outage.get() !== null) return;
    // Each query otherwise waits for its own back-off.
    void client.refetchQueries({ type: "active" }, { cancelRefetch: true });
    void lookForUpdate();
  });
  let lookedMs = Date.now();
  const look = () => {
    if (document.hidden || Date.now() - lookedMs < updateEveryMs) return;
    lookedMs = Date.now();
    void lookForUpdate();
  };
  const timer = setInterval(look, updateEveryMs);
  document.addEventListener("visibilitychange", look);
  return () => {
    stopQueries();
    stopMutations();
    stopOutage();
    clearTimeout(silence);
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
