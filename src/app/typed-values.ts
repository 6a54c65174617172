// What was filled into a form when the service refused the token in its midst: the form has it again after connecting.
import { useEffect, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import { useLocation } from "react-router";
import { sessions } from "../api/session.ts";
import { changesIn } from "./form-values.ts";

/** Longer than it takes to make another token, and shorter than until somebody else sits there. */
const keptMs = 15 * 60_000;

let open: { pathname: string; read: () => object } | null = null;
let kept: { address: string; pathname: string; values: object; atMs: number } | null = null;

sessions.state.subscribe(() => {
  const { session, ended, address } = sessions.state.get();
  if (session !== null) return;
  const isRefused = ended !== null && ended !== "elsewhere";
  kept =
    isRefused && open !== null
      ? { address, pathname: open.pathname, values: open.read(), atMs: Date.now() }
      : null;
});

/** Whether there is something for this form. It is for the next form only, whichever that is. */
function isKeptFor(pathname: string): boolean {
  if (kept?.pathname === pathname && kept.address === sessions.state.get().address)
    if (Date.now() - kept.atMs < keptMs) return true;
  kept = null;
  return false;
}

/**
 * Brings back what was filled into this form before the session ended, and has the same kept while it is open.
 * @returns whether something came back
 */
export function useTypedValues<Values extends FieldValues, Body>({
  getValues,
  reset,
  formState: { defaultValues },
}: UseFormReturn<Values, unknown, Body>): boolean {
  const { pathname } = useLocation();
  const [isBack] = useState(() => isKeptFor(pathname));
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
  return isBack;
}
