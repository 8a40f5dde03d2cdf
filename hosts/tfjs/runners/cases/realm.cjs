const { registry } = require('../realm.cjs');

(async () => {
  for (let i = 0; i < 2; i++) await registry()(require.resolve('../careless.cjs'))();
  console.log('ok');
})();
