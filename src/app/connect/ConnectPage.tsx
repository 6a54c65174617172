// The connect page: address, token, and whether to remember the session.
import { type FormEvent, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { ApiError, hasStatus, isMissing } from "../../api/api-error.ts";
import { callAs } from "../../api/client.ts";
import { queryClient } from "../../api/query.ts";
import type { Session } from "../../api/kept-session.ts";
import { readAddress, type SessionEnd, sessions } from "../../api/session.ts";
import { readFrom } from "../../paths.ts";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { useInvalidFocus } from "../../ui/focus/focus-invalid.ts";
import { Input } from "../../ui/form/Input.tsx";
import { Mark } from "../../ui/Mark.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { LinkNotice } from "./LinkNotice.tsx";
import { linkState } from "./link-state.ts";

type Problem = { address?: string; token?: string; form?: string };

const refusalText = (error: unknown): string =>
  error instanceof ApiError && error.tokenCode === "token_expired"
    ? "The token has expired."
    : "The token isn't valid.";

/** Tests a token. Any operation would do; the response to this one is the first that a user needs. */
async function tryToken(session: Session): Promise<Problem | null> {
  try {
    await callAs(session, "listServers", {});
    return null;
  } catch (error) {
    if (hasStatus(error, 401)) return { token: refusalText(error) };
    if (hasStatus(error, "unreachable"))
      return {
        address:
          "Couldn't reach the service. Check that it is running and reachable from this browser.",
      };
    if (hasStatus(error, "foreign"))
      return {
        address: "The server at this address isn't a Quarterdeck service.",
      };
    // A service without this operation has still checked the token.
    if (isMissing(error)) return null;
    return { form: error instanceof ApiError ? error.message : "Something went wrong." };
  }
}

const again = "Connect with another token to return to where you were.";

const endText: Record<SessionEnd, string> = {
  token_expired: `Your token has expired. ${again}`,
  token_unknown: `Your token was revoked, or it belongs to another service. ${again}`,
  refused: `The service no longer accepts your token. ${again}`,
  elsewhere: "You disconnected in another tab.",
};

function readForm(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string) => {
    const value = data.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  return { address: text("address"), token: text("token"), remember: data.has("remember") };
}

export function ConnectPage() {
  const navigate = useNavigate();
  const { search } = useLocation();
  const { session, ended } = useStore(sessions.state);
  const link = useStore(linkState);
  const [problem, setProblem] = useState<Problem>({});
  const [isPending, setIsPending] = useState(false);
  const fields = useInvalidFocus<HTMLFormElement>(problem);

  const connect = async (form: HTMLFormElement) => {
    const { address: typed, token, remember } = readForm(form);
    const address = readAddress(typed, location.origin);
    const found: Problem = {
      ...(address === null && { address: "Enter an address like https://host." }),
      ...(token === "" && { token: "Enter a token." }),
    };
    setProblem(found);
    if (address === null || token === "") return;
    setIsPending(true);
    const refusal = await tryToken({ address, token });
    setIsPending(false);
    setProblem(refusal ?? {});
    if (refusal !== null) return;
    // The new token may not see the data of the previous one.
    queryClient.clear();
    sessions.connect({ address, token }, { remember });
    linkState.set({ kind: "none" });
    await navigate(readFrom(new URLSearchParams(search)), { replace: true });
  };

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void connect(event.currentTarget);
  };

  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-start gap-6 px-4 pt-[12vh] pb-10">
      <title>Connect · Quarterdeck</title>
      <header className="grid gap-2">
        <p className="flex items-center gap-2 text-lg font-semibold tracking-tight">
          <Mark />
          Quarterdeck
        </p>
        <h1 tabIndex={-1} className="text-xl font-semibold tracking-tight">
          Connect
        </h1>
      </header>
      <LinkNotice isSignedIn={session !== null} />
      {ended !== null && link.kind === "none" && (
        <Notice tone="warn" isAlert>
          {endText[ended]}
        </Notice>
      )}
      <form
        ref={fields}
        noValidate
        onSubmit={submit}
        className="grid gap-5 rounded-lg border border-line bg-raised p-6 shadow-raised max-sm:p-4"
      >
        {problem.form !== undefined && (
          <Notice tone="bad" isAlert>
            {problem.form}
          </Notice>
        )}
        <Field
          label="Token"
          error={problem.token}
          help="The service prints a sign-in link with a token at its first start. The token stays in this browser."
        >
          {(aria) => <Input {...aria} name="token" type="password" isCode required />}
        </Field>
        <Field
          label="Address"
          error={problem.address}
          help="Address of the service. Leave empty to use this page's address."
        >
          {(aria) => (
            <Input
              {...aria}
              name="address"
              inputMode="url"
              placeholder={location.origin}
              defaultValue={sessions.state.get().address}
            />
          )}
        </Field>
        <Field
          label="Remember on this device"
          layout="beside"
          help="Otherwise the browser forgets the token when you close the last tab."
        >
          {(aria) => <Checkbox {...aria} name="remember" />}
        </Field>
        <Button type="submit" variant="primary" isPending={isPending}>
          {isPending ? "Connecting…" : "Connect"}
        </Button>
      </form>
    </main>
  );
}
