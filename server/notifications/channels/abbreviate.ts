// Abbreviates addresses for the dashboard and the log: distinguishable, but without the secret.

/** @returns e.g. `https://hooks.slack.com/…a1b2`, or `…` for an invalid address */
export function abbreviateWebhook(webhook: string): string {
  const url = URL.parse(webhook);
  if (!url || url.host === "") return "…";
  const last = url.pathname.split("/").findLast((part) => part !== "") ?? "";
  // Four characters of a short token would reveal most of it.
  const shown = Math.min(4, Math.floor(last.length * 0.6));
  return `${url.protocol}//${url.host}/…${last.slice(last.length - shown)}`;
}

/** @returns e.g. `o…@example.com`, or `…` for an invalid address */
export function abbreviateEmail(email: string): string {
  const at = email.lastIndexOf("@");
  if (at < 1) return "…";
  const [first = "", ...rest] = email.slice(0, at);
  return `${rest.length === 0 ? "" : first}…${email.slice(at)}`;
}
