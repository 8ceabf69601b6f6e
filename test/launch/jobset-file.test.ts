// jobset-schema.json is the part of JobSet's own schema (jobset.x-k8s.io_jobsets.yaml at 08dfbdfd) with the fields used
// here. The check refuses unknown fields, so that a new field has to be looked up there.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { jobSetFile } from "../../lib/launch/jobset-file.ts";
import { jobOf } from "./jobs.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  /** The schema of the values of an object with any keys. */
  readonly values?: Schema;
  readonly items?: Schema;
}

const schema = JSON.parse(readFileSync(new URL("jobset-schema.json", import.meta.url), "utf8")) as Schema;
const typeOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;

/** Lists the faults of a value, each with its path. */
function faults(value: unknown, { type, ...rules }: Schema, path: string): string[] {
  const type_ = typeOf(value);
  if (type !== undefined && ![type].flat().includes(type_)) return [`${path}: ${type_}, not ${type}`];
  if (rules.enum?.includes(value) === false) return [`${path}: ${value} is none of ${rules.enum}`];
  if (typeof value === "number") return value < (rules.minimum ?? value) ? [`${path}: too small`] : [];
  if (typeof value === "string") {
    const long = value.length > (rules.maxLength ?? value.length);
    return long || !new RegExp(rules.pattern ?? "").test(value) ? [`${path}: ${value}`] : [];
  }
  if (Array.isArray(value)) {
    const many = value.length > (rules.maxItems ?? value.length) ? [`${path}: too many`] : [];
    return [...many, ...value.flatMap((item, i) => faults(item, rules.items ?? {}, `${path}[${i}]`))];
  }
  if (typeof value !== "object" || value === null) return [];
  const missing = (rules.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const own = rules.properties?.[name] ?? rules.values;
    return own === undefined ? [`${path}.${name} is not known`] : faults(field, own, `${path}.${name}`);
  });
  return [...missing.map((name) => `${path}.${name} is missing`), ...fields];
}

const options = { image: "registry/hone:1", claim: "runs", mount: "/shared", queue: "gpu" };
const read = (...args: Parameters<typeof jobSetFile>) => parse(jobSetFile(...args).text, { strict: true });

test("is what JobSet's schema describes, with a store of its own and without, on GPUs and without", () => {
  expect(faults(read(jobOf(), options), schema, "")).toEqual([]);
  const { queue: _, ...plain } = options;
  const other = read(jobOf({ store: "rediss://there:6379", gpusPerNode: 0 }), plain);
  expect(faults(other, schema, "")).toEqual([]);
  expect(other.spec.replicatedJobs.map(({ name }: { name: string }) => name)).toEqual(["node"]);
});

test("the schema refuses what Kubernetes would", () => {
  const text = jobSetFile(jobOf(), options).text;
  const after = (from: string, to: string) => faults(parse(text.replace(from, to)), schema, "");
  expect(after("backoffLimit: 0", "backOffLimit: 0")).toEqual([
    expect.stringContaining("backOffLimit is not known"),
  ]);
  expect(after("BlockingRecreate", "blocking")).toEqual([expect.stringContaining("blocking is none of")]);
  expect(after("completions: 8", 'completions: "8"')).toEqual([
    expect.stringContaining("string, not integer"),
  ]);
  expect(after("name: configError, ", "")).toEqual([expect.stringContaining("name is missing")]);
});

test("what ends how", () => {
  const { spec } = read(jobOf(), options);
  const node = spec.replicatedJobs.find(({ name }: { name: string }) => name === "node").template.spec;
  expect(node).toMatchObject({ completionMode: "Indexed", completions: 8, parallelism: 8, backoffLimit: 0 });
  const [config, drained] = node.podFailurePolicy.rules;
  expect(config).toEqual({ action: "FailJob", onExitCodes: { operator: "In", values: [78] } });
  // an API server before 1.29 refuses a condition without its status
  expect(drained).toEqual({
    action: "Ignore",
    onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
  });
  expect(spec.failurePolicy).toMatchObject({ maxRestarts: 20, restartStrategy: "BlockingRecreate" });
  expect(spec.failurePolicy.rules[0]).toMatchObject({
    action: "FailJobSet",
    onJobFailureReasons: ["PodFailurePolicy"],
  });
  expect(node.template.spec.terminationGracePeriodSeconds).toBe(120);
});

test("strings stay strings, whatever they look like", () => {
  const agent = ["/r.ts", "--set", "a: {b}", "*x", "yes", '"', "é\n"];
  const { metadata, spec } = read(jobOf({ name: "1234", agent }), { ...options, image: "a:1 # no" });
  expect(metadata.name).toBe("1234");
  const [container] = spec.replicatedJobs[1].template.spec.template.spec.containers;
  expect(container.command).toEqual(["node", "/opt/hone/main.js", "agent", ...agent]);
  expect(container.image).toBe("a:1 # no");
  const values = container.env.filter(({ value }: { value?: unknown }) => value !== undefined);
  for (const { value } of values) expect(value).toBeTypeOf("string");
  expect(container.env).toContainEqual({ name: "HONE_NODES", value: "8" });
  const uid = { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" };
  expect(container.env).toContainEqual({ name: "HONE_LAUNCH", valueFrom: { fieldRef: uid } });
});

test("the commands that submit it make the store's password first", () => {
  expect(jobSetFile(jobOf(), options).submit("j.yaml")).toEqual([
    expect.stringContaining("kubectl create secret generic apriel-15b-store"),
    "kubectl apply -f j.yaml",
  ]);
  expect(jobSetFile(jobOf({ store: "redis://a" }), options).submit("j.yaml")).toHaveLength(1);
});
