const careless = require('../careless.cjs');

it('the first file', () => careless()).timeout(60000);
