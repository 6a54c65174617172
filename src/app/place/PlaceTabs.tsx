import { Link } from "../Link.tsx";

type Tab = { label: string; to: string };

/** Links to the pages of one site or server, below the title of each of them. */
export function PlaceTabs({
  label,
  tabs,
  current,
}: {
  /** Accessible name. */
  label: string;
  tabs: readonly Tab[];
  current: string;
}) {
  return (
    <nav aria-label={label} className="-mt-2 border-b border-line">
      <ul className="-mb-px flex gap-5 overflow-x-auto">
        {tabs.map(({ label: name, to }) => (
          <li key={name}>
            <Link
              to={to}
              aria-current={name === current ? "page" : undefined}
              className="inline-flex min-h-9 items-center border-b-2 border-transparent -outline-offset-2 text-muted hover:text-ink aria-[current]:border-accent forced-colors:not-aria-[current]:border-[Canvas] aria-[current]:font-medium aria-[current]:text-ink"
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
