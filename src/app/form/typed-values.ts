// Stores the unsaved changes of a form whose token the service refuses, and restores them after connecting with another
// one.
import { useEffect, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import { useLocation } from "react-router";
import { sessions } from "../../api/session.ts";
import { changesIn } from "./form-values.ts";

/** Long enough to create another token, and short enough that nobody else finds the changes in this browser. */
const keptMs = 15 * 60_000;

let open: { pathname: string; read: () => object } | null = null;
let kept: { address: string; pathname: string; values: object; atMs: number } | null = null;

sessions.state.subscribe(() => {
  const { session, ended, address } = sessions.state.get();
  if (session !== null) return;
  const isRefused = ended !== null && ended !== "elsewhere";
  const found =
    isRefused && open !== null
      ? { address, pathname: open.pathname, values: open.read(), atMs: Date.now() }
      : null;
  kept = found;
  // Timers do not run while a machine sleeps, so the age is checked as well.
  setTimeout(() => {
    if (kept === found) kept = null;
  }, keptMs);
});

/** Whether changes are stored for this form. Discards those of another form, and those that are too old. */
function isKeptFor(pathname: string): boolean {
  if (kept?.pathname === pathname && kept.address === sessions.state.get().address)
    if (Date.now() - kept.atMs < keptMs) return true;
  kept = null;
  return false;
}

/**
 * Restores the changes that were stored for this form, and stores its own while it is open.
 * @returns whether changes were restored
 */
export function useTypedValues<Values extends FieldValues, Body>({
  getValues,
  reset,
  formState: { defaultValues },
}: UseFormReturn<Values, unknown, Body>): boolean {
  const { pathname } = useLocation();
  const [isRestored] = useState(() => isKeptFor(pathname));
  useEffect(() => {
    if (kept === null) return;
    const { values: typed } = kept;
    kept = null;
    reset((values) => ({ ...values, ...typed }), { keepDefaultValues: true });
  }, [reset]);
  useEffect(() => {
    open = { pathname, read: () => changesIn(getValues(), defaultValues ?? {}) };
    return () => {
      open = null;
    };
  }, [pathname, getValues, defaultValues]);
  return isRestored;
}
