import './gpu_environment.mjs';
import './bundle.mjs';
