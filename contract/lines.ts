// The lines of text that requests may say.
import * as z from "zod/mini";
import { storableText } from "./values.ts";

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
const printable = /^[^\u0000-\u001f\u007f]*$/;
const noControls = "Control characters and line breaks are not allowed here.";

/** One line of text: 1 to `max` characters, not all blank, no control characters. */
export const line = (max: number) =>
  storableText().check(
    z.trim(),
    z.minLength(1),
    z.maxLength(max),
    z.regex(printable, { error: noControls }),
  );

/** As `line`, and it may be empty. */
export const optionalLine = (max: number) =>
  storableText().check(z.trim(), z.maxLength(max), z.regex(printable, { error: noControls }));
