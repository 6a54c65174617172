// Sign-in links: their code is exchanged for a token. A token in a link would stay in the browser's history, where a code is
// worthless once it was used or has expired.
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

  /** Returns a new code, of which only the hash is stored. */
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
    /** Returns a new code for the first sign-in; null where an owner can already sign in with a token, see `hasUsedOwner`. */
    async issueCode(): Promise<string | null> {
      if (await tokens.hasUsedOwner(new Date(clock.now()))) return null;
      return makeStored({});
    },

    /** Returns a new code for an operator who has lost all tokens. */
    replaceCode: (): Promise<string> => makeStored({ tokenName: "Sign-in link" }),

    /**
     * Exchanges a code for a new token. Only the result contains its text.
     * @throws InvalidFields for a code that is unknown, used or expired
     */
    async exchange(code: string): Promise<{ row: TokenRow; token: string }> {
      const stored = await codes.find();
      // Whether a code was used or has expired is revealed only to a client that has it.
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
