/** The end of a URL tells two hooks of one host apart, so it stays when the middle has no room. */
const endLength = 10;

/** A URL as a tip, with places to break it where it has none: a token in a path is longer than a tip is wide. */
export const urlTip = (url: string): string => url.replace(/.{6}/g, "$&\u200b");

type UrlTextProps = { url: string };

/** A URL on one line, shortened in its middle to the room there is; the whole of it is in the tip. */
export function UrlText({ url }: UrlTextProps) {
  const cut = Math.max(0, url.length - endLength);
  return (
    <span dir="ltr" className="flex max-w-full min-w-0" data-tip={urlTip(url)}>
      <span className="truncate">{url.slice(0, cut)}</span>
      <span className="shrink-0 whitespace-pre">{url.slice(cut)}</span>
    </span>
  );
}
