// The start page where a service cannot list its servers: opens a site or server by id, and remembers it.
import { useNavigate } from "react-router";
import { sessions } from "../../api/session.ts";
import { paths } from "../../paths.ts";
import { useStore } from "../../store.ts";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { IdForm } from "../form/IdForm.tsx";
import { Link } from "../Link.tsx";
import { knownServers, knownSites } from "../place/known-places.ts";

const kinds = {
  site: {
    title: "Site workers",
    label: "Site id",
    action: "Open site",
    known: knownSites,
    pathOf: (id: number) => paths.workers(id),
    nameOf: (id: number) => `Site ${id}`,
  },
  server: {
    title: "Server backups",
    label: "Server id",
    action: "Open backups",
    known: knownServers,
    pathOf: (id: number) => paths.backups(id),
    nameOf: (id: number) => `Server ${id} backups`,
  },
};

function OpenById({ kind }: { kind: keyof typeof kinds }) {
  const { title, label, action, known, pathOf, nameOf } = kinds[kind];
  const navigate = useNavigate();
  const { address } = useStore(sessions.state);
  const opened = useStore(known).filter((place) => place.address === address);
  const open = async (id: number) => {
    known.remember({ address, id });
    await navigate(pathOf(id));
    return null;
  };

  return (
    <Panel title={title}>
      <IdForm name={action} label={label} action={action} take={open} isChange={false} />
      {opened.length > 0 && (
        <ul aria-label="Recent" className="border-t border-line">
          {opened.map(({ id }) => (
            <li key={id} className="border-b border-line last:border-b-0">
              <Link
                to={pathOf(id)}
                className="flex min-h-11 items-center px-4 font-medium -outline-offset-2 hover:bg-hover max-sm:px-3"
              >
                {nameOf(id)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

export function OpenSite() {
  return (
    <>
      <PageHeader title="Sites and servers" />
      <p className="max-w-prose text-muted">
        This service doesn't list its servers. Open a site or server by its id. Quarterdeck keeps
        opened sites and servers in the navigation.
      </p>
      <OpenById kind="site" />
      <OpenById kind="server" />
    </>
  );
}
