// Short messages that come and go by themselves. Callable from anywhere.
import { describeError } from "../api/api-error.ts";
import { createStore } from "../store.ts";

/** An action that a message offers, e.g. "Undo". It must be possible elsewhere too: toasts go. */
type ToastAction = { label: string; run: () => void };

export type ToastMessage = {
  id: number;
  tone: "good" | "bad";
  text: string;
  detail?: string | undefined;
  requestId?: string | null | undefined;
  action?: ToastAction | undefined;
};

const maxShown = 4;
const shownMs: Record<ToastMessage["tone"], number> = { good: 5_000, bad: 15_000 };
/** Long enough to think it over. */
const offeredMs = 10_000;

export const toasts = createStore<readonly ToastMessage[]>([]);
let lastId = 0;

export const dismissToast = (id: number) =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** @returns the message's id, for whoever wants it gone before its time */
function add(message: Omit<ToastMessage, "id">): number {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get(), { id, ...message }].slice(-maxShown));
  const ms = message.action === undefined ? shownMs[message.tone] : offeredMs;
  setTimeout(() => dismissToast(id), ms);
  return id;
}

export const toast = {
  success: (text: string, detail?: string, action?: ToastAction) =>
    add({ tone: "good", text, detail, action }),
  /** @param cause what was thrown, or why in the operator's words */
  failure(text: string, cause: unknown = null) {
    const { message: detail, requestId } =
      cause === null || typeof cause === "string"
        ? { message: cause ?? undefined, requestId: null }
        : describeError(cause);
    return add({ tone: "bad", text, detail, requestId });
  },
};
