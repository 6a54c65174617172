// What the palette says beside its list.
import { Key } from "../ui/Key.tsx";

export function Footer({ isLoading }: { isLoading: boolean }) {
  return (
    <p className="flex items-center gap-4 border-t border-line bg-sunken px-4 py-2 text-xs text-muted max-sm:hidden">
      <span className="flex items-center gap-1.5">
        <Key>↑</Key>
        <Key>↓</Key> move
      </span>
      <span className="flex items-center gap-1.5">
        <Key>↵</Key> choose
      </span>
      <span className="flex items-center gap-1.5">
        <Key>Esc</Key> close
      </span>
      {isLoading && <span className="ms-auto animate-wait">Loading servers and sites…</span>}
    </p>
  );
}

export function Nothing({ text }: { text: string }) {
  return (
    <div className="grid gap-1 px-4 py-6 text-muted">
      <p className="wrap-anywhere text-ink">No results for “{text.trim()}”.</p>
      <p>
        Try a page or an action, such as “webhooks” or “restart 7”, or an id: “12”, “worker 12”,
        “site 3”.
      </p>
    </div>
  );
}
