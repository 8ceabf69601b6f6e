// npm run release -- --dry-run: checks in order everything that a release needs, and publishes nothing. Without --dry-run it
// also publishes the checked tarball and tags the commit. docs/how-to/release.md has the steps.
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { must } from "./must.mjs";
import { packPackage } from "./package.mjs";
import { architectures } from "./prebuild.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const MOST_FILES = 400;
const PUBLISHED = ["x64", "arm64"];
const git = (...args) => must("git", args, { cwd: root }).trim();

/** Returns the lines of the changelog below a version's heading; undefined without such a heading. */
export function changesOf(changelog, version) {
  const section = changelog.split(/^## /m).find((part) => part.split(/\s/, 1)[0] === version);
  return section
    ?.split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1);
}

/** True if npm can publish with provenance: in a workflow that may request an identity token. */
export const canProve = (env) => env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined;

function expectVersion(version, dryRun) {
  if (git("tag", "--list", `v${version}`) !== "")
    throw new Error(`v${version} is tagged already: raise the version in package.json`);
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  const changes = changesOf(changelog, version);
  const waiting = changesOf(changelog, "Unreleased") ?? [];
  if (changes?.length) return `${version}, ${changes.length} rows in CHANGELOG.md`;
  const rename = `CHANGELOG.md has no rows under "## ${version}": rename "## Unreleased" (${waiting.length} rows)`;
  if (!dryRun) throw new Error(rename);
  return `${version}; before the release: ${rename}`;
}

function expectClean(dryRun) {
  const changed = git("status", "--porcelain");
  if (changed !== "" && !dryRun) throw new Error(`the checkout has changes:\n${changed}`);
  return `${git("rev-parse", "--short", "HEAD")}${changed === "" ? "" : ", with changes that a release would refuse"}`;
}

async function pack(dryRun) {
  const prebuilt = architectures();
  const missing = PUBLISHED.filter((arch) => !prebuilt.includes(arch));
  if (missing.length > 0 && !dryRun)
    throw new Error(`no compiler here for ${missing.join(", ")}: docs/how-to/release.md names it`);
  const { filename, size, entryCount, integrity } = await packPackage(root, { prebuilt });
  if (entryCount > MOST_FILES)
    throw new Error(`${filename} has ${entryCount} files, more than ${MOST_FILES}`);
  const lacks = missing.length > 0 ? `, without ${missing.join(", ")}, which a release would refuse` : "";
  const core = `prebuilt for ${prebuilt.join(", ")}${lacks}`;
  return {
    filename,
    said: `${filename}, ${(size / 1e6).toFixed(1)} MB, ${entryCount} files, ${core}, ${integrity}`,
  };
}

function publish(filename, version, dryRun) {
  const proof = canProve(process.env) ? ["--provenance"] : [];
  const args = ["publish", filename, ...proof];
  if (dryRun) return `would run: git tag v${version} && npm ${args.join(" ")}`;
  must("npm", args, { cwd: root });
  // Tags after publishing, so that a version that could not be published gets no tag.
  git("tag", "--annotate", `v${version}`, "--message", `hone-rl ${version}`);
  return `published with${proof.length ? "" : "out"} provenance; push the tag: git push origin v${version}`;
}

async function release(dryRun) {
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const tell = (what, said) => console.log(`${what.padEnd(14)}${said}`);
  tell("checkout", expectClean(dryRun));
  tell("version", expectVersion(version, dryRun));
  const { filename, said } = await pack(dryRun);
  try {
    tell("package", said);
    tell("installation", "from the tarball, in an empty folder without a compiler:");
    console.log(
      must(process.execPath, ["scripts/try-arrival.mjs", filename], { cwd: root }).replace(/^/gm, "  "),
    );
    tell("publish", publish(filename, version, dryRun));
  } finally {
    rmSync(path.join(root, filename), { force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [flag, ...more] = process.argv.slice(2);
  if (more.length > 0 || (flag !== undefined && flag !== "--dry-run")) {
    console.error(`hone: npm run release takes --dry-run or nothing, got ${[flag, ...more].join(" ")}`);
    process.exit(2);
  }
  await release(flag === "--dry-run").catch((error) => {
    console.error(`hone: no release: ${error.message}`);
    process.exitCode = 1;
  });
}
