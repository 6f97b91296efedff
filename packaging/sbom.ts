/**
 * Prints the bill of materials of a release, in CycloneDX: what is part of the built files, what is installed beside them, and the Node of the
 * Debian package. Runs in a checkout that was built. `npm sbom --omit=dev` alone leaves out what is bundled, and each package
 * that a package of the tests needs too.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties: readonly { readonly name: string }[];
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

const { name, dependencies, peerDependencies } = JSON.parse(read('package.json')) as Manifest;
const all = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx'], { cwd: root, maxBuffer: 1 << 28 });
const bill = JSON.parse(all.toString()) as Bill;

const bundled = [...read('dist/THIRD-PARTY-LICENSES.txt').matchAll(/^={80}\n(\S+) (\S+) \(/gm)].map(
  ([, title, version]) => `${title}@${version}`,
);
const installed = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies), 'node']);
const ofRoot = bill.dependencies.find(({ ref }) => ref === bill.metadata.component['bom-ref'])?.dependsOn ?? [];
const dependsOn = new Map(bill.dependencies.map(({ ref, dependsOn: on }) => [ref, on]));

// What a bundled package needs is bundled too; what an installed one needs is installed.
const beside = new Set(ofRoot.filter((ref) => installed.has(ref.slice(0, ref.lastIndexOf('@')))));
for (const ref of beside) for (const needed of dependsOn.get(ref) ?? []) beside.add(needed);
const kept = beside.union(new Set(bundled));
const refs = new Set(bill.components.map((component) => component['bom-ref']));
const unknown = [...kept].filter((ref) => !refs.has(ref));
if (unknown.length > 0) throw new Error(`npm lists no ${unknown.join(', ')}`);

const released = {
  ...bill,
  metadata: { ...bill.metadata, component: { ...bill.metadata.component, name } },
  components: bill.components
    .filter((component) => kept.has(component['bom-ref']))
    .map((component) => ({
      ...component,
      properties: component.properties.filter((property) => property.name !== 'cdx:npm:package:development'),
    })),
  dependencies: bill.dependencies
    .filter(({ ref }) => ref === bill.metadata.component['bom-ref'] || kept.has(ref))
    .map(({ ref, dependsOn: on }) => ({ ref, dependsOn: on.filter((one) => kept.has(one)) })),
};
process.stdout.write(`${JSON.stringify(released, null, 2)}\n`);
