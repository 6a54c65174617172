/** Length of the end of a URL that is always shown, because it distinguishes webhooks of one host. */
const endLength = 10;

/** Returns a URL for a tooltip, with extra places to break it: a token in a path is wider than the tooltip. */
export const urlTip = (url: string): string => url.replace(/.{6}/g, "$&\u200b");

type UrlTextProps = { url: string };

/** A URL on one line, truncated in the middle; the tooltip has all of it. */
export function UrlText({ url }: UrlTextProps) {
  const cut = Math.max(0, url.length - endLength);
  return (
    <span dir="ltr" className="flex max-w-full min-w-0" data-tip={urlTip(url)}>
      <span className="truncate">{url.slice(0, cut)}</span>
      <span className="shrink-0 whitespace-pre">{url.slice(cut)}</span>
    </span>
  );
}
