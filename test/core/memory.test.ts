import { expect, test } from 'vitest';
import { Inlet, Memory, MemoryArray } from '../../src/core/memory.ts';

test('a memory that grows keeps what it holds, and views follow it', () => {
  using memory = new Memory();
  const array = new MemoryArray(memory, Int32Array, 4);
  array.view.set([1, 2, 3, 4]);
  memory.allocate(1_000_000);
  expect([...array.view]).toEqual([1, 2, 3, 4]);
  array.grow(300_000);
  expect([...array.view.subarray(0, 5)]).toEqual([1, 2, 3, 4, 0]);
});

test('arrays of every kind are put into it as they are, also a part of one', () => {
  using memory = new Memory();
  const doubles = new Inlet(memory).put(Float64Array.of(1.5, -2, 9e15), 2);
  const ints = new Inlet(memory).put(Int32Array.of(-1, 7), 2);
  const bytes = new Inlet(memory).put(Int8Array.of(-1, 5, 6), 2);
  expect([...memory.doubles.subarray(doubles >> 3, (doubles >> 3) + 3)]).toEqual([1.5, -2, 0]);
  expect([memory.get(ints), memory.get(ints + 4)]).toEqual([-1, 7]);
  expect([...memory.bytes.subarray(bytes, bytes + 3)]).toEqual([255, 5, 0]);
});

test('whoever goes on with a memory that was given back has nothing, and the next one is all zeros', () => {
  const memory = new Memory();
  const array = new MemoryArray(memory, Int32Array, 1000);
  array.view.fill(7);
  const { view } = array;
  memory[Symbol.dispose]();
  memory[Symbol.dispose]();
  expect([view.length, memory.bytes.length, memory.ints.length]).toEqual([0, 0, 0]);
  expect(() => memory.allocate(10)).toThrow('given back');
  using next = new Memory();
  const again = new MemoryArray(next, Int32Array, 1000);
  expect(again.view.every((one) => one === 0)).toBe(true);
});

test('more than addresses can reach is refused', () => {
  using memory = new Memory();
  expect(() => memory.allocate(2 ** 31)).toThrow('more than 2 GB');
});
