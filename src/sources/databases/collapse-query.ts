/**
 * Pushdown: the user's query inside one that collapses its rows in the database. One row per key and month leaves it; a
 * row that the agent may read otherwise, or reject, leaves as it is. Times and values must be typed columns: only the agent
 * decides which texts are numbers and dates.
 */
import type { Row, RowBatch } from '../../core/model.ts';
import { type CollapseRequest, planCollapse } from './collapse-plan.ts';
import { collapseSql } from './collapse-sql.ts';
import { readCollapsed } from './collapsed-rows.ts';
import { pathsOf } from './id-paths.ts';
import type { Dialect } from './dialect.ts';

export interface CollapseQuery {
  readonly sql: string;
  /** Turns rows of its answer into batches for the agent, in their order: at least one batch. */
  batch(rows: readonly Row[], columns: readonly string[]): readonly RowBatch[];
}

/** @throws AgentError `part.unreadable` where the query lacks a column or has another type, or the mapping cannot be pushed down */
export function collapseQuery(dialect: Dialect, request: CollapseRequest): CollapseQuery {
  const plan = planCollapse(dialect, request);
  const collapse = { plan, paths: pathsOf(plan, request), ...collapseSql(dialect, plan, request) };
  return { sql: collapse.sql, batch: (rows, header) => readCollapsed(rows, header, collapse) };
}
