// The first sign-in: a code that the start prints, and the token that it is exchanged for. A token in a link would stay in
// the browser's history; a code there is worth nothing once it was used or ten minutes are over.
import { timingSafeEqual } from "node:crypto";
import { signInCodeMinutes } from "../../contract/tokens.ts";
import type { Clock } from "../clock.ts";
import { commandLine } from "../program-name.ts";
import { InvalidFields } from "../http/service-error.ts";
import type { CodeStore, StoredCode } from "./code-store.ts";
import { hashSecret, makeCode, makeSecret } from "./secret.ts";
import type { TokenRow, TokenStore } from "./store.ts";

type SignInOptions = { codes: CodeStore; tokens: TokenStore; clock: Clock };

const refusal = (text: string) => new InvalidFields({ code: [text] });
const usedText = "The code has already been used. Each code works once.";

export function createSignIn({ codes, tokens, clock }: SignInOptions) {
  const isMatch = (stored: StoredCode | null, code: string): stored is StoredCode =>
    stored !== null && timingSafeEqual(Buffer.from(stored.hash), Buffer.from(hashSecret(code)));

  /** @returns the code, which stands nowhere else */
  async function makeStored(more: Pick<StoredCode, "tokenName">): Promise<string> {
    const code = makeCode();
    await codes.put({
      hash: hashSecret(code),
      expiresMs: clock.now() + signInCodeMinutes * 60_000,
      isUsed: false,
      ...more,
    });
    return code;
  }

  return {
    /**
     * Makes a code where nobody could get in without one: no token that may do everything has ever been used.
     * @returns the code, which stands nowhere else; null where somebody can get in
     */
    async issueCode(): Promise<string | null> {
      if (await tokens.hasUsedOwner(new Date(clock.now()))) return null;
      return makeStored({});
    },

    /** Makes a code for an operator who has lost all tokens. @returns the code, which stands nowhere else */
    replaceCode: (): Promise<string> => makeStored({ tokenName: "Sign-in link" }),

    /**
     * Makes a token of a code. The response is the only place where its text ever stands.
     * @throws InvalidFields for a code that is unknown, used or expired
     */
    async exchange(code: string): Promise<{ row: TokenRow; token: string }> {
      const stored = await codes.find();
      // Only who knows the code learns what became of it.
      if (!isMatch(stored, code))
        throw refusal(
          "Unknown code. Each start of the service prints a new code and invalidates the previous one.",
        );
      if (stored.isUsed) throw refusal(usedText);
      if (clock.now() >= stored.expiresMs)
        throw refusal(
          `The code expired after ${signInCodeMinutes} minutes. ${stored.tokenName === undefined ? "Restart the service to get a new code." : `Run \`${commandLine("token")}\` for a new one.`}`,
        );
      return codes.transaction(async (tx) => {
        if (!(await codes.use(tx, stored))) throw refusal(usedText);
        const secret = makeSecret();
        const row = await tokens.insert(tx, {
          name: stored.tokenName ?? "First sign-in",
          hash: hashSecret(secret),
          abilities: ["*"],
        });
        return { row, token: `${row.id}|${secret}` };
      });
    },
  };
}

export type SignIn = ReturnType<typeof createSignIn>;
