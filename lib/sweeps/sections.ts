import type { Figure, PlainTable } from "../report/index.ts";
import type { Study } from "./definition.ts";
import { curveFigures, mixtureFigures, scatterFigures } from "./figures.ts";
import type { CellResult } from "./results.ts";
import { conditionedTable, domainTable, mixtureTable, overviewTable, trainingTable } from "./tables.ts";

/** A table with its caption; `name` is that of its files. */
export interface CaptionedTable {
  readonly name: string;
  readonly caption: string;
  readonly table: PlainTable;
}

export interface Section {
  /** Prefix of the names of its figures' files. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly tables: readonly CaptionedTable[];
  readonly figures: readonly Figure[];
}

/** Curves of a study, as papers show them; the other curves are in the section of all cells. */
const STUDY_CURVES = ["Score", "Length"];

const SPREAD = "mean ± standard deviation over seeds";

/** Sections of a sweep's page: every cell, then each study that has a finished arm. Trusts that a cell has a finished run. */
export function sectionsOf(cells: readonly CellResult[], studies: readonly Study[]): Section[] {
  const finished = cells.filter(({ runs }) => runs.length > 0);
  return [overview(finished), ...studies.flatMap((study) => studySection(study, finished))];
}

function overview(cells: readonly CellResult[]): Section {
  const first = cells[0]!.name;
  return {
    name: "cells",
    title: "All cells",
    text: `Held-out problems after training, under the first sampling setting. ± is one standard deviation over seeds; 95 % is Student's t over seeds. Δ is the difference from "${first}", seed by seed.`,
    tables: [
      {
        name: "cells",
        caption: `Score (mean over the domains) and tokens per answer of every cell: ${SPREAD}, 95 % intervals, and paired differences from "${first}".`,
        table: overviewTable(cells),
      },
      {
        name: "training",
        caption: `What training was like: entropy (nats) and groups kept over the last fifth of the steps; tokens clipped, mean and greatest lag of a step's rollouts in steps, and the share of groups that a replay buffer gave, over all: ${SPREAD}.`,
        table: trainingTable(cells),
      },
      {
        name: "domains",
        caption: `Accuracy (pass@1, %; ${SPREAD}) and mean tokens per answer, of all domains and of each.`,
        table: domainTable(cells),
      },
    ],
    figures: [...scatterFigures(cells, false), ...curveFigures(cells)],
  };
}

function studySection(study: Study, cells: readonly CellResult[]): Section[] {
  const { title, caption, arms, lengthsAgainst, mixture } = study;
  const found = Object.entries(arms).flatMap(([name, of]) => {
    const cell = cells.find((one) => one.name === of);
    return cell === undefined ? [] : [{ name, runs: cell.runs }];
  });
  if (found.length === 0) return [];
  const slug = title.toLowerCase().replaceAll(/\W+/g, "-");
  const accuracy = {
    name: slug,
    caption: `${title}: accuracy (pass@1, %; ${SPREAD}) and mean tokens per answer on held-out problems.`,
    table: domainTable(found),
  };
  const tables = [
    accuracy,
    ...lengthTables(slug, found, lengthsAgainst),
    ...(mixture ? mixtureTables(slug, found) : []),
  ];
  const figures = [
    ...scatterFigures(found, true),
    ...curveFigures(found, STUDY_CURVES),
    ...(mixture ? [...mixtureFigures(found, "completed"), ...mixtureFigures(found, "trained")] : []),
  ];
  return [{ name: slug, title, text: caption, tables, figures }];
}

function lengthTables(
  slug: string,
  arms: readonly CellResult[],
  against: string | undefined,
): CaptionedTable[] {
  const base = arms.find(({ name }) => name === against);
  if (base === undefined) return [];
  return arms
    .filter((arm) => arm !== base)
    .map((arm) => ({
      name: `${slug}-lengths-${arm.name.toLowerCase().replaceAll(/\W+/g, "-")}`,
      caption: `${arm.name} against ${base.name}: accuracy (%) and tokens of right and of wrong answers, by how often the weights that training started from solved the problem; ${SPREAD}, Δ is ${arm.name} less ${base.name}, seed by seed. n: problems of all seeds.`,
      table: conditionedTable(base, arm),
    }));
}

function mixtureTables(slug: string, arms: readonly CellResult[]): CaptionedTable[] {
  return (["completed", "trained"] as const).map((stage) => ({
    name: `${slug}-mixture-${stage}`,
    caption: `Configured and realized shares of the domains among all rollouts ${stage === "completed" ? "that completed, before any was filtered" : "that were trained on"}, at the end of training: ${SPREAD}.`,
    table: mixtureTable(arms, stage),
  }));
}
