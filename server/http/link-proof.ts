// Proves that a client has begun the download of a one-time link, and may continue it: the response's `ETag` ends with a secret, which
// the client sends back with the range that it still needs. Chromium sends it in `If-Range`, Firefox in `If-Match`.
// https://www.rfc-editor.org/rfc/rfc9110#section-13.1
import type { Context } from "hono";

const proofAtEnd = /\.(\w+)"$/;

export const withProof = (tag: string, proof: string): string => tag.replace(/"$/, `.${proof}"`);

/** Returns the tag of the file itself. */
export const withoutProof = (tag: string): string => tag.replace(proofAtEnd, '"');

/** @returns the proof that a client sends; null = none */
export const proofOf = ({ req }: Pick<Context, "req">): string | null =>
  proofAtEnd.exec(req.header("If-Range") ?? req.header("If-Match") ?? "")?.[1] ?? null;
