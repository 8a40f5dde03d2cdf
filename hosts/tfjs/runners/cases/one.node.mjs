import { test } from 'node:test';
import careless from '../careless.cjs';

test('a file of node:test', () => careless());
