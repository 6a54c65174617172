import { paths } from "../paths.ts";
import { Link } from "./Link.tsx";

const tabs = [
  { label: "Workers", pathOf: paths.workers },
  { label: "Webhooks", pathOf: paths.webhooks },
  { label: "Notifications", pathOf: paths.notifications },
] as const;

/** The pages of one site, below the title of each of them. */
export function SiteTabs({
  siteId,
  current,
}: {
  siteId: number;
  current: (typeof tabs)[number]["label"];
}) {
  return (
    <nav aria-label="Site" className="-mt-2 border-b border-line">
      <ul className="-mb-px flex gap-1 overflow-x-auto">
        {tabs.map(({ label, pathOf }) => (
          <li key={label}>
            <Link
              to={pathOf(siteId)}
              aria-current={label === current ? "page" : undefined}
              className="inline-flex min-h-9 items-center border-b-2 border-transparent px-2.5 text-muted hover:text-ink aria-[current]:border-accent aria-[current]:font-medium aria-[current]:text-ink"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
