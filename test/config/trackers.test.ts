import { expect, test } from "vitest";
import { trackersSchema } from "../../lib/config/trackers.ts";

const issues = (input: unknown) => {
  const { error } = trackersSchema.safeParse(input);
  return error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

test("each kind with its defaults", () => {
  expect(
    trackersSchema.parse([{ kind: "mlflow" }, { kind: "otlp" }, { kind: "wandb" }, { kind: "prometheus" }]),
  ).toEqual([
    { kind: "mlflow", experiment: "hone" },
    { kind: "otlp", metrics: true, traces: true },
    { kind: "wandb", project: "hone" },
    { kind: "prometheus", host: "127.0.0.1", port: 9464 },
  ]);
  expect(trackersSchema.parse(undefined)).toEqual([]);
});

test.each(["http://user:pw@host", "https://host/?token=x", "https://host/#x", "ftp://host", "host:5000"])(
  "%s is no url of a recipe",
  (url) => {
    for (const kind of ["mlflow", "otlp"]) expect(issues([{ kind, url }])).toHaveLength(1);
  },
);

test("two of one kind need names, which are names of files", () => {
  expect(issues([{ kind: "mlflow" }, { kind: "mlflow" }])?.[0]).toMatch(/two trackers have one name/);
  expect(issues([{ kind: "mlflow" }, { kind: "mlflow", name: "second" }])).toBeUndefined();
  expect(issues([{ kind: "jsonl", path: "x", name: "../up" }])).toHaveLength(1);
  expect(issues([{ kind: "mlflow", token: "t" }])?.[0]).toMatch(/token/);
});
