import type { SyntheticEvent } from "react";

/** Moves the focus to the first field that has an error, for a form that is sent although one is missing. */
export const focusInvalid = ({ currentTarget: form }: SyntheticEvent): void =>
  form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
