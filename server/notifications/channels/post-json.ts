// Sends a POST to a webhook. Its address is a secret, so no error contains it, neither in its message nor as its cause, since some
// errors of `fetch` contain the whole address.
import { readRetryAfter } from "../../../contract/retry-after.ts";
import { networkWords } from "../../net/send-error.ts";
import { ChannelError } from "./channel.ts";
import { oneLine } from "./cut.ts";

export type ProviderResponse = {
  status: number;
  /** The first 4 KiB at most, without the webhook's secret. */
  text: string;
  contentType: string;
  retryAfterMs: number | null;
  /** Why the text is incomplete: a ChannelError, or the signal's reason; null where it is complete. */
  broken: unknown;
};

type PostOptions = {
  /** Name for messages, e.g. in "Slack timed out." */
  provider: string;
  signal: AbortSignal;
  timeoutMs: number | undefined;
};

const maxAnswerBytes = 4096;

/** @throws ChannelError without a response, or the signal's reason */
export async function postJson(
  url: URL,
  body: unknown,
  options: PostOptions,
): Promise<ProviderResponse> {
  const { provider, signal, timeoutMs = 15_000 } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      // Following a redirect would send the secret elsewhere.
      redirect: "manual",
      signal: AbortSignal.any([signal, deadline]),
    });
    const { text, error } = await readHead(response);
    return {
      status: response.status,
      text: hideSecret(text, url),
      contentType: response.headers.get("content-type") ?? "",
      retryAfterMs: readRetryAfter(response.headers.get("retry-after"), Date.now()),
      broken: error === null ? null : diagnose(error, true),
    };
  } catch (error) {
    throw diagnose(error, false);
  }

  function diagnose(error: unknown, isAnswered: boolean): unknown {
    if (signal.aborted) return signal.reason;
    if (deadline.aborted) return new ChannelError(`${provider} timed out.`);
    return new ChannelError(`${provider} ${networkDiagnosis(error, isAnswered)}`);
  }
}

/** @throws ChannelError, permanent, for a text that is no http or https URL */
export function readWebhook(webhook: string, provider: string): URL {
  const url = URL.parse(webhook);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url && isWeb && url.username === "" && url.password === "") return url;
  const words = `The webhook URL is not a ${provider} URL. Copy the URL from ${provider} again.`;
  throw new ChannelError(words, { isPermanent: true });
}

/** Timeout, too early, too many requests, and the redirects that RFC 9110, 15.4, calls temporary. */
const temporaryStatuses = new Set([302, 303, 307, 408, 425, 429]);

/**
 * @param words of the provider, of any length
 * @param advice a complete sentence
 */
export function refusal(
  provider: string,
  { status, text, retryAfterMs }: ProviderResponse,
  words: string,
  advice = "",
): ChannelError {
  const isRedirect = status >= 300 && status < 400;
  // No provider responds with HTML. Whatever did so, such as a proxy, may be gone a minute later.
  const isPage = status < 500 && text.trimStart().startsWith("<");
  const answered = `${status} ${isRedirect ? "(redirect)" : words}`;
  const sentence = `${provider} returned ${oneLine(answered, 300).replace(/\.$/, "")}.`;
  const next = isPage ? "A proxy may have answered instead." : advice;
  return new ChannelError(next === "" ? sentence : `${sentence} ${next}`, {
    isPermanent: status < 500 && !isPage && !temporaryStatuses.has(status),
    retryAfterMs,
  });
}

/** @returns what was received, and the error that ended it early */
async function readHead(response: Response): Promise<{ text: string; error: unknown }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let error: unknown = null;
  try {
    // Breaking out of the loop closes the connection.
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxAnswerBytes) break;
    }
  } catch (caught) {
    error = caught;
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxAnswerBytes));
  return { text, error };
}

/** Removes parts of the path from a text, because some servers repeat it in their error page. */
function hideSecret(text: string, url: URL): string {
  const parts = [...url.pathname.split("/"), ...url.searchParams.values()]
    // Plain words such as `services` are no secret, and occur in normal sentences.
    .filter((part) => part.length >= 4 && !/^[a-z]{1,12}$/.test(part));
  const whole = url.pathname.length > 1 ? [url.pathname] : [];
  return [url.href, ...whole, ...parts].reduce((rest, part) => rest.replaceAll(part, "…"), text);
}

/** For the codes that `fetch` has besides those of the system. */
const closed = "closed the connection.";
const byCode: Record<string, string> = {
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  UND_ERR_CONNECT_TIMEOUT: "timed out.",
  UND_ERR_HEADERS_OVERFLOW: "returned too many headers.",
};

function networkDiagnosis(error: unknown, isAnswered: boolean): string {
  // `fetch` wraps the error of the connection. Only these fields are certain not to contain the address.
  const { cause } = error as { cause?: { code?: unknown; name?: unknown; message?: unknown } };
  const code = codeOf(cause);
  const words = networkWords({ code, message: cause?.message });
  const known = byCode[code];
  if (isAnswered && known === closed) return "closed the connection during the response.";
  if (code.startsWith("Z_")) return "returned a response that is damaged.";
  return known ?? words ?? `cannot be reached${code === "" ? "" : `: ${code}`}.`;
}

/** Errors of the HTTP parser have a name instead of a code. */
function codeOf(cause: { code?: unknown; name?: unknown } | undefined): string {
  if (typeof cause?.code === "string") return cause.code;
  return cause?.name === "HTTPParserError" ? "HPE_INVALID" : "";
}
