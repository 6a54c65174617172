// Translates errors of zlib and zstd, such as “incorrect data check”.
import { toError } from "../../to-error.ts";

/** @returns “cut off” or “damaged”; null = the error is not of a decompressor */
export function describeUnpackError(error: unknown): "cut off" | "damaged" | null {
  const { code, message } = toError(error);
  if (code === "Z_BUF_ERROR" || message === "unexpected end of file") return "cut off";
  return /^(?:Z_|ZSTD_|ERR_ZLIB|ERR_ZSTD)/.test(String(code)) ? "damaged" : null;
}
