// The index of the help.
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { helpIndex } from "./help-index.ts";

export function HelpIndexPage() {
  return (
    <>
      <PageHeader title="Help" />
      <div className="gap-5 *:mb-5 *:break-inside-avoid lg:columns-2">
        {helpIndex.map(({ title, pages }) => (
          <Panel key={title} title={title}>
            <ul className="grid py-1">
              {Object.entries(pages).map(([name, text]) => (
                <li key={name}>
                  <Link
                    to={paths.help(name)}
                    className="flex min-h-9 items-center px-4 py-1.5 hover:bg-hover hover:underline max-sm:min-h-11"
                  >
                    {text}
                  </Link>
                </li>
              ))}
            </ul>
          </Panel>
        ))}
      </div>
    </>
  );
}
