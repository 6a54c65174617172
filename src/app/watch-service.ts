// Notices that the service is away, and that it is back or has been updated meanwhile.
import type { QueryClient } from "@tanstack/react-query";
import { hasStatus } from "../api/api-error.ts";
import { createStore } from "../store.ts";
import { lookAgain, outage, whenReachable } from "./outage.ts";
import { toast } from "./toasts.ts";

const isSign = (error: unknown): boolean =>
  (["unreachable", 502, 503, 504] as const).some((status) => hasStatus(error, status));

/** The service has another dashboard by now; the next page that is opened is of that one. */
export const isStale = createStore(false);

/** The first file's name changes with each build; of a dashboard that is being worked on it stays. */
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

/** What hangs answers nothing, and no browser gives up on it for minutes. */
const silentMs = 10_000;

/** Of a question or a change. */
type Step = { type: string; error?: unknown; manual?: boolean | undefined };

/** @returns what ends it */
export function watchService(client: QueryClient): () => void {
  let silence: ReturnType<typeof setTimeout> | undefined;
  const hear = ({ type, error, manual }: Step) => {
    if (type === "fetch" || type === "pending")
      silence ??= setTimeout(() => void whenReachable(), silentMs);
    if (type === "success") lookAgain();
    const isFailure = type === "failed" || type === "error";
    if (isFailure && isSign(error)) void whenReachable();
    // Whatever has come shows that more may come; what a page changes by itself shows nothing.
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
    // Each has its own wait before it tries again.
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
