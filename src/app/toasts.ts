// Short messages that disappear after a while. Callable from anywhere.
import { describeError } from "../api/api-error.ts";
import { createStore } from "../store.ts";

/** An action of a message, e.g. "Undo". It must also be available elsewhere, because toasts disappear. */
type ToastAction = { label: string; run: () => void };

export type ToastMessage = {
  id: number;
  /** `busy` = a running job: the message stays until the outcome replaces it. */
  tone: "good" | "bad" | "busy";
  text: string;
  detail?: string | undefined;
  requestId?: string | null | undefined;
  action?: ToastAction | undefined;
  /** Name of a job, e.g. "restore 7": each of its messages replaces the one before. */
  job?: string | undefined;
};

const maxShown = 4;

/** `ToastHost` removes them after a while, but not while one is hovered or focused. */
export const toasts = createStore<readonly ToastMessage[]>([]);
let lastId = 0;

export const dismissToast = (id: number) =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** @returns the id of the message, with which it can be dismissed */
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
  /** @param cause the thrown value, or a reason for the operator */
  failure(text: string, cause: unknown = null, job?: string, action?: ToastAction) {
    const { message: detail, requestId } =
      cause === null || typeof cause === "string"
        ? { message: cause ?? undefined, requestId: null }
        : describeError(cause);
    return add({ tone: "bad", text, detail, requestId, job, action });
  },
  /** For a job that no page shows now; its outcome is to be reported under the same name. */
  running: (job: string, text: string) => add({ tone: "busy", text, job }),
};
