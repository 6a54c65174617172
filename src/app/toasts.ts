// Short messages that come and go by themselves. Callable from anywhere.
import { createStore } from "../store.ts";

/** What can be done about what a message tells, e.g. "Undo". It must be possible elsewhere too: toasts go. */
export type ToastAction = { label: string; run: () => void };

export type ToastMessage = {
  id: number;
  tone: "good" | "bad";
  text: string;
  detail?: string | undefined;
  action?: ToastAction | undefined;
};

const mostShown = 4;
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
  toasts.set([...toasts.get(), { id, ...message }].slice(-mostShown));
  const ms = message.action === undefined ? shownMs[message.tone] : offeredMs;
  setTimeout(() => dismissToast(id), ms);
  return id;
}

export const toast = {
  success: (text: string, detail?: string, action?: ToastAction) =>
    add({ tone: "good", text, detail, action }),
  failure: (text: string, detail?: string) => add({ tone: "bad", text, detail }),
};
