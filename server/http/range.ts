// Reads from a request whether a file is to be sent, and from which byte on: https://www.rfc-editor.org/rfc/rfc9110#section-13
import { withoutProof } from "./link-proof.ts";

type Asked = { range: string | undefined; ifRange: string | undefined };

const tagsIn = (list: string): string[] => list.split(",").map((one) => one.trim());

/**
 * Whether the file is one that `If-Match` names: https://www.rfc-editor.org/rfc/rfc9110#section-13.1.1
 * @param tag the file's `ETag`; null = it has none
 */
export const isMatch = (ifMatch: string | undefined, tag: string | null): boolean =>
  ifMatch === undefined || tagsIn(ifMatch).some((one) => one === "*" || withoutProof(one) === tag);

/**
 * Whether the client has the file, which `If-None-Match` names: https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 * @param tag the file's `ETag`; null = it has none
 */
export const isKnown = (ifNoneMatch: string | undefined, tag: string | null): boolean =>
  ifNoneMatch !== undefined &&
  tagsIn(ifNoneMatch).some((one) => one === "*" || withoutProof(one.replace(/^W\//, "")) === tag);

/**
 * Only a range that reaches the end of the file is served, because a file is verified while it is read: without its end, nobody
 * would learn that it is damaged. Any other range is ignored, as is allowed.
 * @param tag the file's `ETag`; null = it has none
 * @returns the first byte, `sizeBytes` or more where there is no such byte; null = the whole file is to be sent
 */
export function firstByte(
  { range, ifRange }: Asked,
  { sizeBytes, tag }: { sizeBytes: number; tag: string | null },
): number | null {
  if (ifRange !== undefined && withoutProof(ifRange) !== tag) return null;
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(range ?? "") ?? [];
  if (first === "") return last === "" ? null : Math.max(0, sizeBytes - Number(last));
  const reachesEnd = last === "" || Number(last) >= Math.max(sizeBytes - 1, Number(first));
  return reachesEnd ? Number(first) : null;
}
