import { type RefObject, type SyntheticEvent, useEffect, useRef } from "react";

const focusFirst = (box: Element | null): void =>
  box?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();

/** Moves the focus to the first invalid field when a form is submitted. */
export const focusInvalid = ({ currentTarget: form }: SyntheticEvent): void => focusFirst(form);

/**
 * Moves the focus to the first invalid field for each new refusal.
 * @param refusal null = none, or it is shown elsewhere
 */
export function useInvalidFocus<Box extends HTMLElement>(
  refusal: object | null,
): RefObject<Box | null> {
  const box = useRef<Box>(null);
  useEffect(() => {
    if (refusal !== null) focusFirst(box.current);
  }, [refusal]);
  return box;
}
