// Short messages that come and go by themselves. Callable from anywhere.
import { describeError } from "../api/api-error.ts";
import { createStore } from "../store.ts";

/** An action that a message offers, e.g. "Undo". It must be possible elsewhere too: toasts go. */
type ToastAction = { label: string; run: () => void };

export type ToastMessage = {
  id: number;
  /** `busy` = a job is under way: it stays until its end takes its place. */
  tone: "good" | "bad" | "busy";
  text: string;
  detail?: string | undefined;
  requestId?: string | null | undefined;
  action?: ToastAction | undefined;
  /** Of a job, e.g. "restore 7": its messages take one another's place. */
  job?: string | undefined;
};

const maxShown = 4;

/** They go by the clock of `ToastHost`, which stands still while somebody is at them. */
export const toasts = createStore<readonly ToastMessage[]>([]);
let lastId = 0;

export const dismissToast = (id: number) =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** @returns the message's id, for whoever wants it gone before its time */
function add(message: Omit<ToastMessage, "id">): number {
  const { job } = message;
  const before = job === undefined ? undefined : toasts.get().find((toast) => toast.job === job);
  const id = before?.id ?? (lastId += 1);
  const rest = toasts.get();
  const next = { id, ...message };
  toasts.set(
    before === undefined
      ? [...rest, next].slice(-maxShown)
      : rest.map((toast) => (toast === before ? next : toast)),
  );
  return id;
}

export const toast = {
  success: (text: string, detail?: string, action?: ToastAction, job?: string) =>
    add({ tone: "good", text, detail, action, job }),
  /** @param cause what was thrown, or why in the operator's words */
  failure(text: string, cause: unknown = null, job?: string, action?: ToastAction) {
    const { message: detail, requestId } =
      cause === null || typeof cause === "string"
        ? { message: cause ?? undefined, requestId: null }
        : describeError(cause);
    return add({ tone: "bad", text, detail, requestId, job, action });
  },
  /** For a job that no page shows at the moment; its end is to be reported under the same name. */
  running: (job: string, text: string) => add({ tone: "busy", text, job }),
};
