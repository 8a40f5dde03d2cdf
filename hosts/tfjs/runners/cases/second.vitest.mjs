import { test } from 'vitest';
import careless from '../careless.cjs';

test('the second file', () => careless());
