/** The footer of a Parquet file, checked as a whole before anything believes it: a damaged one says anything. */
import type { FileMetaData, SchemaElement } from 'hyparquet';
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { PartFile } from '../files/part-file.ts';
import { depthMax, grouped, rowFieldsMax } from '../limits.ts';

export const hint = 'was it written to its end? export it again';

const whole = z.number().optional();
const word = z.string().optional();

/** What is used of it. The library passes on whatever stands there. Source: the Parquet format, parquet.thrift, FileMetaData. */
const footer = z.object({
  num_rows: z.bigint(),
  schema: z.array(
    z.object({
      name: z.string(),
      type: word,
      type_length: whole,
      repetition_type: word,
      num_children: whole,
      converted_type: word,
      scale: whole,
      precision: whole,
      logical_type: z.object({ type: word, scale: whole, precision: whole, unit: word, bitWidth: whole }).optional(),
    }),
  ),
  row_groups: z.array(
    z.object({
      num_rows: z.bigint(),
      columns: z.array(
        z.object({
          file_path: word,
          // What is encrypted may be left out.
          meta_data: z
            .object({
              type: word,
              path_in_schema: z.array(z.string()),
              codec: word,
              total_compressed_size: z.bigint(),
              data_page_offset: z.bigint(),
              dictionary_page_offset: z.bigint().optional(),
            })
            .optional(),
        }),
      ),
    }),
  ),
});

/** @throws AgentError `part.unreadable` where it is damaged, encrypted, or says of more than is read */
export function checkFooter(file: PartFile, metadata: FileMetaData): void {
  const [issue] = footer.safeParse(metadata).error?.issues ?? [];
  if (issue !== undefined) throw damaged(file, `its footer is wrong at ${issue.path.join('.')}`);
  checkDepth(file, metadata.schema);
  checkChunks(file, metadata);
}

/** The library goes through the schema by recursion, and copies the way to each column. */
function checkDepth(file: PartFile, schema: readonly SchemaElement[]): void {
  /** How many children are still to come, of each struct that is open. */
  const open: number[] = [];
  for (const { num_children: children = 0, name } of schema) {
    while (open.at(-1) === 0) open.pop();
    if (open.length > depthMax) {
      throw new AgentError('part.unreadable', `${file.name}: ${name} is nested more than ${depthMax} levels deep`, {
        hint: 'is this the right file?',
      });
    }
    const above = open.pop();
    if (above !== undefined) open.push(above - 1);
    open.push(children);
  }
  if (schema.length <= rowFieldsMax) return;
  throw new AgentError('part.unreadable', `${file.name} has more than ${grouped(rowFieldsMax)} columns`, {
    hint: 'a table that wide stands on its side: export its columns as rows',
  });
}

function checkChunks(file: PartFile, { row_groups: groups, schema }: FileMetaData): void {
  const leaves = schema.filter(({ type }) => type !== undefined);
  for (const { columns } of groups) {
    for (const [at, { meta_data: chunk, crypto_metadata: crypto }] of columns.entries()) {
      const name = chunk?.path_in_schema.join('.');
      if (crypto !== undefined || chunk === undefined) {
        throw encrypted(file, name === undefined ? 'a column is' : `column ${name} is`);
      }
      const type = leaves[at]?.type;
      if (type !== undefined && chunk.type !== type)
        throw damaged(file, `a row group has column ${name} as ${chunk.type}, and the schema as ${type}`);
    }
    if (columns.length !== leaves.length)
      throw damaged(file, `a row group has ${columns.length} of ${leaves.length} columns`);
  }
}

export function damaged(file: PartFile, why: string): AgentError {
  return new AgentError('part.unreadable', `${file.name} is damaged: ${why}`, { hint });
}

export function encrypted(file: PartFile, what: string): AgentError {
  return new AgentError('part.unreadable', `${file.name}: ${what} encrypted`, { hint: 'export it without encryption' });
}
