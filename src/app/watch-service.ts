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

/** @returns what ends it */
export function watchService(client: QueryClient): () => void {
  const stopQueries = client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return;
    const { action } = event;
    if (action.type === "success") lookAgain();
    else if ((action.type === "failed" || action.type === "error") && isSign(action.error))
      void whenReachable();
  });
  const stopMutations = client.getMutationCache().subscribe((event) => {
    if (event.type === "updated" && event.action.type === "error" && isSign(event.action.error))
      void whenReachable();
  });
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
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
