import { Link } from "../Link.tsx";
import { Icon } from "../../ui/Icon.tsx";

export type Crumb = { label: string; to: string };

export function Crumbs({ items }: { items: readonly Crumb[] }) {
  return (
    <nav aria-label="Breadcrumbs">
      <ol className="flex flex-wrap items-center gap-x-1 wrap-anywhere">
        {items.map(({ label, to }, index) => (
          <li key={to} className="flex items-center gap-1">
            {index > 0 && <Icon name="right" />}
            <Link to={to} className="py-0.5 hover:text-ink hover:underline">
              {label}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}
