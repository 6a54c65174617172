import { type RefObject, type SyntheticEvent, useEffect, useRef } from "react";

const focusFirst = (box: Element | null): void =>
  box?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();

/** Moves the focus to the first field that has an error, for a form that is sent although one is missing. */
export const focusInvalid = ({ currentTarget: form }: SyntheticEvent): void => focusFirst(form);

/**
 * The same anew at each refusal that fields show.
 * @param refusal null = there is none, or it is shown elsewhere
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
