// Downloads one file in a process that a test can kill; prints a line at the first interruption, and how the download
// ended.
import { HubClient } from "../../lib/inference/hub-client.ts";
import { downloadFile } from "../../lib/inference/hub-download.ts";

const [endpoint, commit, path, hex] = process.argv.slice(2) as [string, string, string, string];
const client = new HubClient({ endpoint, retryDelaysMs: [60_000] });
const file = { path: "model.safetensors", size: 300_000, digest: { algorithm: "sha256", hex } } as const;
const url = client.fileUrl("org/tiny", commit, file.path);
try {
  await downloadFile(client, {
    url,
    file,
    path,
    onBytes: (bytes) => void (bytes === 120_000 && process.stdout.write("broken off\n")),
  });
} catch (error) {
  const { code, message, hint } = error as { code?: string; message?: string; hint?: string };
  process.stdout.write(`${code} ${message} ${hint}\n`);
}
