const careless = require('../careless.cjs');

it('the second file', () => careless()).timeout(60000);
