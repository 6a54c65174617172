// The way in where a service cannot list its servers: the id of a site, remembered once it was opened.
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { sessions } from "../api/session.ts";
import { paths, readId } from "../paths.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Link } from "./Link.tsx";
import { knownSites, rememberSite } from "./known-sites.ts";

export function OpenSite() {
  const navigate = useNavigate();
  const { address } = useStore(sessions.state);
  const sites = useStore(knownSites).filter((site) => site.address === address);
  const [error, setError] = useState<string>();

  const open = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("id");
    const id = readId(typeof typed === "string" ? typed.trim() : undefined);
    if (id === null) return setError("An id is a whole number, 1 or more.");
    rememberSite({ address, id });
    void navigate(paths.workers(id));
  };

  return (
    <>
      <PageHeader title="Sites" />
      <p className="max-w-prose text-muted">
        This service does not list its servers. Open a site by its id; it stays in the list on the
        left.
      </p>
      <form noValidate onSubmit={open} className="grid max-w-xs justify-items-start gap-3">
        <Field label="Site id" error={error}>
          {(aria) => <Input {...aria} name="id" inputMode="numeric" required />}
        </Field>
        <Button type="submit" variant="primary">
          Open site
        </Button>
      </form>
      {sites.length > 0 && (
        <Panel title="Opened before">
          <ul>
            {sites.map(({ id }) => (
              <li key={id} className="border-b border-line last:border-b-0">
                <Link
                  to={paths.workers(id)}
                  className="flex min-h-11 items-center px-4 font-medium -outline-offset-2 hover:bg-hover"
                >
                  Site {id}
                </Link>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}
