// A database server that was found: asks for a login, lists its databases, and adds the selected ones to the inventory.
import { type SyntheticEvent, useState } from "react";
import { foundDatabases, type FoundDatabases } from "../../contract/discovery.ts";
import { call } from "../api/client.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import { takeFocus } from "../ui/focus/take-focus.ts";
import { databaseEntry, type FoundDatabaseServer, placeOf } from "./found-entry.ts";
import { FoundRow } from "./FoundRow.tsx";

type DatabaseServerRowProps = { serverId: number; found: FoundDatabaseServer };

export function DatabaseServerRow({ serverId, found }: DatabaseServerRowProps) {
  const [isOpen, setIsOpen] = useState(false);
  const place = placeOf(found);
  return (
    <li className="border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3">
      <div className="flex min-h-8 items-center gap-3">
        <p className="min-w-0 flex-1 font-medium wrap-anywhere">{place}</p>
        {!isOpen && (
          <Button isChange aria-label={`Log in: ${place}`} onClick={() => setIsOpen(true)}>
            Log in
          </Button>
        )}
      </div>
      {isOpen && <Login serverId={serverId} found={found} />}
    </li>
  );
}

function Login({ serverId, found }: DatabaseServerRowProps) {
  const [login, setLogin] = useState({ user: "", password: "" });
  const [listed, setListed] = useState<(FoundDatabases & { login: typeof login }) | null>(null);
  const [isListing, setIsListing] = useState(false);
  const list = async () => {
    setIsListing(true);
    try {
      const answer = await call(
        "findDatabases",
        { id: serverId },
        { body: { ...found, ...login } },
      );
      setListed({ ...foundDatabases.parse(answer), login });
    } catch (error) {
      toast.failure("Couldn't list the databases.", error);
    }
    setIsListing(false);
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void list();
  };
  return (
    <>
      <form
        aria-label={`Log in: ${placeOf(found)}`}
        onSubmit={submit}
        className="grid items-end gap-3 py-2 sm:grid-cols-[1fr_1fr_auto]"
      >
        <Field label="User">
          {(aria) => (
            <Input
              {...aria}
              ref={takeFocus}
              autoComplete="off"
              required
              value={login.user}
              onChange={({ target }) => setLogin({ ...login, user: target.value })}
            />
          )}
        </Field>
        <Field label="Password">
          {(aria) => (
            <Input
              {...aria}
              type="password"
              autoComplete="off"
              value={login.password}
              onChange={({ target }) => setLogin({ ...login, password: target.value })}
            />
          )}
        </Field>
        <Button type="submit" isPending={isListing}>
          {isListing ? "Listing…" : "List databases"}
        </Button>
      </form>
      <div aria-live="polite">
        {listed?.problem != null && (
          <p className="py-1 text-sm wrap-anywhere text-bad">{listed.problem}</p>
        )}
        {listed !== null && listed.problem === null && listed.databases.length === 0 && (
          <p className="py-1 text-sm text-muted">This user can connect to no database.</p>
        )}
      </div>
      {listed !== null && listed.databases.length > 0 && (
        <ul aria-label={`Databases: ${placeOf(found)}`} className="border-t border-line">
          {listed.databases.map((name) => (
            <FoundRow
              key={name}
              serverId={serverId}
              name={name}
              detail="The URL with the password is stored in a file that only Quarterdeck can read."
              kind="databases"
              knownId={listed.known?.find((one) => one.name === name)?.database_id ?? null}
              entry={() => databaseEntry(serverId, found, listed.login, name)}
            />
          ))}
        </ul>
      )}
    </>
  );
}
