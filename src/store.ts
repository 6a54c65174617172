// A value that code outside React changes and components read, such as toasts, the confirmation and the session.
import { useSyncExternalStore } from "react";

export type Store<Value> = {
  get: () => Value;
  set: (next: Value) => void;
  subscribe: (listener: () => void) => () => void;
};

export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const nextChange = ({ subscribe }: Pick<Store<unknown>, "subscribe">): Promise<void> =>
  new Promise((resolve) => {
    const stop = subscribe(() => {
      stop();
      resolve();
    });
  });

export const useStore = <Value>({
  subscribe,
  get,
}: Pick<Store<Value>, "subscribe" | "get">): Value => useSyncExternalStore(subscribe, get);
