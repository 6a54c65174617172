// Worker thread that opens an identity file protected by a passphrase.
import { parentPort, workerData } from "node:worker_threads";
import { armor, Decrypter } from "age-encryption";

const { armored, passphrase }: { armored: string; passphrase: string } = workerData;

async function open(): Promise<string | null> {
  try {
    const decrypter = new Decrypter();
    decrypter.addPassphrase(passphrase);
    return await decrypter.decrypt(armor.decode(armored), "text");
  } catch {
    return null;
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
parentPort?.postMessage(await open());
