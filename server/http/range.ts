// Reads from a request at which byte a response with a file begins: https://www.rfc-editor.org/rfc/rfc9110#section-14
import { withoutProof } from "./link-proof.ts";

type Asked = { range: string | undefined; ifRange: string | undefined };

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
