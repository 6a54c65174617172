// Tests restoring an encrypted backup with a private key, from its page.
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectAccessibleInBoth, expectNoSidewaysScroll } from "./helpers.ts";
import { action, newestOf, removeProvider, type Service } from "./backup-helpers.ts";

const [mine, foreign] = await Promise.all([generateX25519Identity(), generateX25519Identity()]);
const recipient = await identityToRecipient(mine);

/** Adds a storage whose backups are encrypted to one public key. */
async function addSealed(service: Service, { id, name }: { id: number; name: string }) {
  const folder = join(service.folder, name);
  await mkdir(folder);
  await service.changeInventory(({ storage_providers: providers }) =>
    providers.push(
      `{ id: ${id}, name: ${name}, type: local, path: ${folder}, recipients: [${recipient}] }`,
    ),
  );
  await expect
    .poll(async () => await (await service.call("GET", "/api/storage-providers")).text())
    .toContain(`"${name}"`);
}

test("restores an encrypted backup with the matching private key, and refuses another one", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  expected.push(/422 \(Unprocessable/);
  await addSealed(service, { id: 70, name: "sealed" });
  const { id } = await backups.createConfiguration({ storage_provider_id: 70 });
  const backup = newestOf(await backups.run(id));
  const rows = () => {
    const connection = new DatabaseSync(backups.database.file);
    try {
      return connection.prepare("select note from orders").all().length;
    } finally {
      connection.close();
    }
  };
  expect(rows()).toBe(50);
  const changing = new DatabaseSync(backups.database.file);
  changing.exec("delete from orders");
  changing.close();

  await page.goto(`${service.url}/backups/${backup.id}`);
  await expect(page.getByText("age. Only your private key opens the file.")).toBeVisible();
  await action(page, "Restore drill", backup.id).click();
  await expect(page.getByText(/^Restore drill verified the stored file only/)).toBeVisible();
  await expectAccessible(page);

  await action(page, "Restore", backup.id).click();
  const dialog = page.getByRole("alertdialog");
  const identity = dialog.getByRole("textbox", { name: "Identity" });
  const yes = dialog.getByRole("button", { name: "Restore" });
  await dialog.getByRole("textbox", { name: /to confirm/ }).fill(backups.database.name);
  await yes.click();
  await expect(identity).toHaveAccessibleDescription(
    /^Identity is required: the backup is encrypted/,
  );
  await expect(identity).toBeFocused();
  await identity.fill(foreign);
  await yes.click();
  await expect(identity).toHaveAccessibleDescription(/encrypted to other recipients/);
  await expect(identity).toBeFocused();
  await expect(dialog.getByText(/encrypted to other recipients/)).toHaveCount(1);
  await identity.fill(
    "-----BEGIN AGE ENCRYPTED FILE-----\nnonsense\n-----END AGE ENCRYPTED FILE-----",
  );
  await dialog.getByLabel("Passphrase").fill("wrong");
  await yes.click();
  await expect(dialog.getByLabel("Passphrase")).toHaveAccessibleDescription(/doesn't open/);
  await expect(dialog.getByLabel("Passphrase")).toBeFocused();
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
  await dialog.getByLabel("Identity file").setInputFiles({
    name: "identity.txt",
    mimeType: "text/plain",
    buffer: Buffer.from(`# public key: ${recipient}\n${mine}\n`),
  });
  await expect(identity).toHaveValue(new RegExp(mine));
  expect(rows()).toBe(0);
  await yes.click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText(/^Restore finished/)).toBeVisible();
  expect(rows()).toBe(50);

  // The key is in no file of the service, and not in its output.
  expect(service.output()).not.toContain(mine);
  const files = await readdir(service.folder, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const content = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0));
    expect(content.includes(mine), file.name).toBe(false);
  }

  await page.goto("about:blank");
  await removeProvider(service, backups, { id: 70, name: "sealed" });
});

test("opens an encrypted backup of a site with the key that was entered last @long", async ({
  connected: page,
  service,
  backups,
  expected,
}) => {
  expected.push(/422 \(Unprocessable/);
  await addSealed(service, { id: 72, name: "sealed-sites" });
  const { id } = await backups.createConfiguration({
    backupable_type: "site",
    backupable_id: backups.site.id,
    storage_provider_id: 72,
  });
  const backup = newestOf(await backups.run(id));
  await page.goto(`${service.url}/backups/${backup.id}/contents`);
  const identity = page.getByRole("textbox", { name: "Identity" });
  const open = page.getByRole("button", { name: "Open", exact: true });
  await open.click();
  await expect(identity).toHaveAccessibleDescription(/^Identity is required/);
  await expect(identity).toBeFocused();
  // Each message is about the key given last.
  await identity.fill(foreign);
  await open.click();
  await expect(identity).toHaveAccessibleDescription(/encrypted to other recipients/);
  await expect(page.getByText(/encrypted to other recipients/)).toHaveCount(1);
  await expectAccessible(page);
  await identity.fill(mine);
  await open.click();
  await expect(page.getByRole("row").filter({ hasText: "index.html" })).toBeVisible();
  await page.goto("about:blank");
  await removeProvider(service, backups, { id: 72, name: "sealed-sites" });
});
