import './environment.mjs';
import './bundle.mjs';
