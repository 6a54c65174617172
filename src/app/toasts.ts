// Short messages that come and go by themselves. Callable from anywhere.
import { createStore } from "../store.ts";

export type ToastMessage = {
  id: number;
  tone: "good" | "bad";
  text: string;
  detail?: string | undefined;
};

const mostShown = 4;
const shownMs: Record<ToastMessage["tone"], number> = { good: 5_000, bad: 15_000 };

export const toasts = createStore<readonly ToastMessage[]>([]);
let lastId = 0;

export const dismissToast = (id: number) =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id));

function add(tone: ToastMessage["tone"], text: string, detail?: string) {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get(), { id, tone, text, detail }].slice(-mostShown));
  setTimeout(() => dismissToast(id), shownMs[tone]);
}

export const toast = {
  success: (text: string, detail?: string) => add("good", text, detail),
  failure: (text: string, detail?: string) => add("bad", text, detail),
};
