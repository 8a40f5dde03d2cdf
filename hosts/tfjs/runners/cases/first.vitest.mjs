import { test } from 'vitest';
import careless from '../careless.cjs';

test('the first file', () => careless());
