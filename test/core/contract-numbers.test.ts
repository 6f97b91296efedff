/** The number that each text of a value gives, format by format. */
import { describe } from 'vitest';
import { nothing, numbers, rejected } from '../support/contract-table.ts';

const minus = '\u2212';
const nbsp = '\u00a0';
const narrow = '\u202f';

describe('a number with a point', () => {
  numbers({}, [
    ['0', '0'],
    ['7', '7'],
    ['1234567.891', '1234567.891'],
    ['1.50', '1.50'],
    ['1.234', '1.234'],
    ['100.000', '100.000'],
    ['0.10', '0.10'],
    ['+1', '1'],
    ['+1.50', '1.50'],
    ['-1', '-1'],
    [`${minus}1.5`, '-1.5'],
    ['.5', '0.5'],
    ['+.5', '0.5'],
    ['-.17', '-0.17'],
    [`${minus}.17`, '-0.17'],
    ['5.', '5'],
    ['-5.', '-5'],
    ['007', '7'],
    ['-007.50', '-7.50'],
    ['00', '0'],
    ['00.50', '0.50'],
    ['-0', '0'],
    ['+0', '0'],
    ['-0.00', '0.00'],
    [`${minus}0`, '0'],
    ['-.0', '0.0'],
    ['-0.01', '-0.01'],
    ['0.0000000000000000000000000001', '0.0000000000000000000000000001'],
    ['9007199254740993', '9007199254740993'],
    ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
    [
      '123456789012345678901234567890.123456789012345678901234567890',
      '123456789012345678901234567890.123456789012345678901234567890',
    ],
    ['9'.repeat(400), '9'.repeat(400)],
    [`1.${'0'.repeat(400)}`, `1.${'0'.repeat(400)}`],
    ['  12 ', '12'],
    ['\t12\t', '12'],
    [`${nbsp}12${nbsp}`, '12'],
    [`${narrow}-12.5`, '-12.5'],
    ['12\n', '12'],
    ['.', rejected],
    ['-', rejected],
    ['+', rejected],
    ['-.', rejected],
    ['--1', rejected],
    ['+-1', rejected],
    ['-+1', rejected],
    ['1-', rejected],
    ['(1)', rejected],
    ['1 2', rejected],
    ['1,2', rejected],
    ['1,000', rejected],
    ['1 000', rejected],
    [`1${nbsp}000`, rejected],
    ["1'000", rejected],
    ['1.2.3', rejected],
    ['1..2', rejected],
    ['1,234.50', rejected],
    ['$5', rejected],
    ['5 EUR', rejected],
    ['5%', rejected],
    ['Infinity', rejected],
    ['-Infinity', rejected],
    ['NaN', rejected],
    ['0x1f', rejected],
    ['0b1', rejected],
    ['1_000', rejected],
    ['1n', rejected],
    ['12abc', rejected],
    ['abc', rejected],
    ['true', rejected],
    ['null', rejected],
    ['#N/A', rejected],
    ['***', rejected],
    ['\u0661\u0662', rejected],
    ['\uff11\uff12', rejected],
    ['1\u200b2', rejected],
    ['\u00bd', rejected],
    ['1/2', rejected],
  ]);
});

describe('an exponent', () => {
  numbers({}, [
    ['1e3', '1000'],
    ['1E3', '1000'],
    ['1e+3', '1000'],
    ['1.5e3', '1500'],
    ['1.50e1', '15.0'],
    ['12.345e1', '123.45'],
    ['1.500e3', '1500'],
    ['1e0', '1'],
    ['1.50e0', '1.50'],
    ['1.5e-3', '0.0015'],
    ['100e-2', '1.00'],
    ['1.0e-1', '0.10'],
    ['-1.5E-3', '-0.0015'],
    [`${minus}2e2`, '-200'],
    ['.5e1', '5'],
    ['5.e2', '500'],
    ['007e1', '70'],
    ['0e5', '0'],
    ['-0e5', '0'],
    ['1.23456789012345678901e20', '123456789012345678901'],
    ['1e100', `1${'0'.repeat(100)}`],
    ['1e-100', `0.${'0'.repeat(99)}1`],
    ['1e101', rejected],
    ['1e-101', rejected],
    ['1e999999999', rejected],
    ['1e', rejected],
    ['1e+', rejected],
    ['e5', rejected],
    ['.e5', rejected],
    ['1e5.5', rejected],
    ['1e 5', rejected],
    ['1e5e5', rejected],
  ]);
});

describe('a number with a comma', () => {
  numbers({ value: '{ from: "{v}", decimal: "," }' }, [
    ['1,5', '1.5'],
    ['1,50', '1.50'],
    ['1,234', '1.234'],
    [',5', '0.5'],
    ['-,17', '-0.17'],
    ['5,', '5'],
    ['12', '12'],
    ['1,5e3', '1500'],
    ['-0,00', '0.00'],
    ['1.5', rejected],
    ['1.234', rejected],
    ['1.234,5', rejected],
    ['1,234.5', rejected],
    ['1,2,3', rejected],
  ]);
});

describe('groups with a point', () => {
  numbers({ value: '{ from: "{v}", decimal: ",", group: "." }' }, [
    ['1.234', '1234'],
    ['1.234,50', '1234.50'],
    ['-1.234.567,8', '-1234567.8'],
    ['12.345', '12345'],
    ['123.456.789', '123456789'],
    ['1234,50', '1234.50'],
    ['1234567', '1234567'],
    ['0,5', '0.5'],
    ['5', '5'],
    ['1.5', rejected],
    ['12.34', rejected],
    ['1.2345', rejected],
    ['1234.567', rejected],
    ['1.234.56', rejected],
    ['1..234', rejected],
    ['.234', rejected],
    ['1.234,567.8', rejected],
    ['1,234.5', rejected],
    ['1,234,567', rejected],
  ]);
});

describe('groups with a comma', () => {
  numbers({ value: '{ from: "{v}", group: "," }' }, [
    ['1,234', '1234'],
    ['1,234.50', '1234.50'],
    ['1,234,567.891', '1234567.891'],
    ['12,345', '12345'],
    ['+12,345', '12345'],
    [`${minus}12,345.0`, '-12345.0'],
    ['1234.5', '1234.5'],
    ['1234567', '1234567'],
    ['.5', '0.5'],
    ['1,234.', '1234'],
    ['1,2,3', rejected],
    ['1,2', rejected],
    ['12,34,567', rejected],
    ['1,234,56', rejected],
    ['1234,567', rejected],
    ['1,234567', rejected],
    [',123', rejected],
    ['1,234,', rejected],
    ['1,,234', rejected],
    ['1.234,5', rejected],
    ['1.234,567', rejected],
    ['1 234', rejected],
  ]);
});

describe('Indian groups', () => {
  numbers({ value: '{ from: "{v}", group: { mark: ",", sizes: [3, 2] } }' }, [
    ['12,34,567', '1234567'],
    ['1,23,45,678.90', '12345678.90'],
    ['1,234', '1234'],
    ['12,345', '12345'],
    ['1234567', '1234567'],
    ['1,234,567', rejected],
    ['12,3456', rejected],
    ['123,45,678', rejected],
  ]);
});

const thin = '\u2009';
describe('groups with white space of any kind', () => {
  numbers({ value: '{ from: "{v}", decimal: ",", group: " " }' }, [
    ['1 234,50', '1234.50'],
    [`1${nbsp}234,50`, '1234.50'],
    [`1${narrow}234,50`, '1234.50'],
    [`1${thin}234`, '1234'],
    [`1 234${nbsp}567`, '1234567'],
    [` ${minus}1${narrow}234 `, '-1234'],
    ['1234', '1234'],
    ['12 34', rejected],
    ['1  234', rejected],
    ['1.234', rejected],
    ['1 234 56', rejected],
  ]);
});

describe('groups with either apostrophe', () => {
  numbers({ value: `{ from: "{v}", group: "'" }` }, [
    ["1'234.50", '1234.50'],
    ['1\u2019234.50', '1234.50'],
    ["1'234\u2019567", '1234567'],
    ['1234.5', '1234.5'],
    ["12'34", rejected],
    ['1,234', rejected],
  ]);
});

describe('accounting', () => {
  numbers({ value: '{ from: "{v}", group: ",", accounting: true }' }, [
    ['(1,234.50)', '-1234.50'],
    ['( 5 )', '-5'],
    ['(0.00)', '0.00'],
    ['5-', '-5'],
    ['1,234.50-', '-1234.50'],
    ['0.00-', '0.00'],
    ['$5', '5'],
    ['$ 5', '5'],
    ['-$5', '-5'],
    ['$-5', '-5'],
    ['($5)', '-5'],
    ['$(5)', '-5'],
    ['(5 EUR)', '-5'],
    ['EUR (5)', '-5'],
    ['(EUR 5)', '-5'],
    ['€1,234.50', '1234.50'],
    ['1,234.50 €', '1234.50'],
    ['1,234.50\u00a0€', '1234.50'],
    ['£0.50', '0.50'],
    ['¥1,234', '1234'],
    ['₹1,234', '1234'],
    ['EUR 5', '5'],
    ['5 USD', '5'],
    ['USD 1,234.50', '1234.50'],
    ['5%', '5'],
    ['5 %', '5'],
    ['-5.25%', '-5.25'],
    ['(5%)', '-5'],
    ['-', '0'],
    [' - ', '0'],
    ['-1', '-1'],
    ['1', '1'],
    ['-0.00', '0.00'],
    ['(5', rejected],
    ['5)', rejected],
    ['()', rejected],
    ['((5))', rejected],
    ['-5-', rejected],
    ['$', rejected],
    ['%', rejected],
    ['EUR', rejected],
    ['--', rejected],
    ['Infinity', rejected],
    ['NaN', rejected],
    ['(NaN)', rejected],
    ['0x1f', rejected],
    ['1_000', rejected],
    ['(1,2,3)', rejected],
    ['twelve', rejected],
  ]);
});

describe('Swiss francs', () => {
  numbers({ value: `{ from: "{v}", group: "'", accounting: true }` }, [
    ["CHF 1'234.50", '1234.50'],
    ["CHF (1'234.50)", '-1234.50'],
  ]);
});

describe('scale', () => {
  numbers({ value: '{ from: "{v}", scale: 1000 }' }, [
    ['1.50', '1500.00'],
    ['.5', '500.0'],
    ['0.0015', '1.5000'],
    ['-3', '-3000'],
    ['-0.00', '0.00'],
    ['9007199254740993', '9007199254740993000'],
    ['12345678901234567890.12', '12345678901234567890120.00'],
  ]);
});

describe('a scale below one', () => {
  numbers({ value: '{ from: "{v}", scale: 0.01 }' }, [
    ['150', '1.50'],
    ['1', '0.01'],
    ['1.5', '0.015'],
  ]);
});

describe('negate', () => {
  numbers({ value: '{ from: "{v}", negate: true }' }, [
    ['5', '-5'],
    ['-5', '5'],
    ['0', '0'],
    ['-0.00', '0.00'],
    ['1.50', '-1.50'],
  ]);
});

describe('negate and scale in accounts', () => {
  numbers({ value: '{ from: "{v}", accounting: true, scale: 1000, negate: true }' }, [
    ['(1.5)', '1500.0'],
    ['1.5', '-1500.0'],
    ['-', '0'],
  ]);
});

describe('a missing value by default', () => {
  numbers({}, [
    ['', nothing],
    ['   ', nothing],
    [nbsp, nothing],
    ['NA', rejected],
  ]);
});

describe('declared missing values', () => {
  numbers({ missing: '["", NA, "***", "-"]' }, [
    ['', nothing],
    [' ', nothing],
    ['NA', nothing],
    [' NA ', nothing],
    ['***', nothing],
    ['-', nothing],
    ['na', rejected],
    ['N A', rejected],
    ['**', rejected],
    ['0', '0'],
  ]);
});

describe('an empty text that is not declared missing', () => {
  numbers({ missing: '[NA]' }, [
    ['NA', nothing],
    ['', rejected],
  ]);
});

describe('a lone minus that is declared missing under accounting', () => {
  numbers({ missing: '["-"]', value: '{ from: "{v}", accounting: true }' }, [['-', nothing]]);
});
